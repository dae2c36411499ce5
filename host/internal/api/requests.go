package api

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
)

// Repeatable is the part of an input that lets a client send a request again
// without harm; see Named.
type Repeatable struct {
	Key string `header:"Idempotency-Key" minLength:"1" maxLength:"128" doc:"For 24 hours, further requests with the same key answer with what the first one made"`
}

// digest tells what a request asks for from others: what is sent again under one
// key must be the same.
func digest(name string, body *RunBody) (string, error) {
	text, err := json.Marshal(struct {
		Name string
		Body *RunBody
	}{name, body})
	if err != nil {
		return "", fmt.Errorf("tell a request from others: %w", err)
	}
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:16]), nil
}
