package api

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"strings"

	"github.com/danielgtaylor/huma/v2"
)

// Conditional is the part of an input that lets a client keep what it has; see
// Named.
type Conditional struct {
	IfNoneMatch string `header:"If-None-Match" maxLength:"1024" doc:"ETags of what the client has: if one of them is still right the answer is 304"`
}

// has reports whether the client has what a tag stands for.
func (c Conditional) has(tag string) bool {
	for each := range strings.SplitSeq(c.IfNoneMatch, ",") {
		if each = strings.TrimPrefix(strings.TrimSpace(each), "W/"); each == tag || each == "*" {
			return true
		}
	}
	return false
}

// Expecting is the part of an input that says which version is to be changed; see
// Named.
type Expecting struct {
	IfMatch string `header:"If-Match" maxLength:"256" doc:"The ETag of the definition, or of the task, that is to be changed; * for whatever is there"`
}

// version returns what If-Match names, 0 for any.
func (e Expecting) version() (int64, error) {
	text := strings.TrimSpace(e.IfMatch)
	switch text {
	case "":
		return 0, huma.NewError(http.StatusPreconditionRequired, "which version is to be changed? Send the ETag of the task as If-Match, or * for whatever is there")
	case "*":
		return 0, nil
	}
	text = strings.Trim(strings.TrimPrefix(text, "W/"), `"`)
	text, _, _ = strings.Cut(text, "-") // what follows tells states of the task apart
	version, err := strconv.ParseInt(text, 10, 64)
	if err != nil || version <= 0 {
		return 0, &Invalid{Reason: "If-Match is no ETag of a task", Faults: []Fault{{Where: "header.If-Match", Message: "expected a version such as \"3\""}}}
	}
	return version, nil
}

// tagOf is the ETag of a version of a definition.
func tagOf(version int64) string { return strconv.Quote(strconv.FormatInt(version, 10)) }

// tagged is an output with an ETag, whose body is left out if the client has it.
type tagged[T any] struct {
	Status int
	ETag   string `header:"ETag"`
	Body   T
}

// tag answers with a body, or with 304 if the client has it. An empty tag stands
// for a hash of the body.
func tag[T any](body T, etag string, c Conditional, err error) (*tagged[T], error) {
	if err != nil {
		return nil, err
	}
	if etag == "" {
		if etag, err = hashTag(body, ""); err != nil {
			return nil, err
		}
	}
	t := &tagged[T]{Status: http.StatusOK, ETag: etag, Body: body}
	if c.has(etag) {
		t.Status = http.StatusNotModified
	}
	return t, nil
}

// hashTag is an ETag that goes by all of a body, behind a prefix.
func hashTag(body any, prefix string) (string, error) {
	text, err := json.Marshal(body)
	if err != nil {
		return "", fmt.Errorf("make an ETag: %w", err)
	}
	sum := sha256.Sum256(text)
	return strconv.Quote(prefix + hex.EncodeToString(sum[:8])), nil
}

// notModified is how the document tells of 304.
func notModified() map[string]*huma.Response {
	return map[string]*huma.Response{strconv.Itoa(http.StatusNotModified): {Description: "The client has it"}}
}
