package api

import (
	"bytes"
	"encoding/json"
)

// Object is a JSON object of a request. Its numbers are json.Number, so that
// none loses digits on the way through.
type Object map[string]any

// UnmarshalJSON implements json.Unmarshaler.
func (o *Object) UnmarshalJSON(text []byte) error {
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.UseNumber()
	return decoder.Decode((*map[string]any)(o))
}
