package secrets

import (
	"bytes"
	"encoding/json"
	"fmt"
)

// members are those of a JSON object, in their order.
type members []member

type member struct {
	name  string
	value any
}

// decode reads JSON, with the members of objects in their order and numbers with
// all their digits.
func decode(text json.RawMessage) (any, error) {
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.UseNumber()
	return next(decoder)
}

func next(decoder *json.Decoder) (any, error) {
	token, err := decoder.Token()
	if err != nil {
		return nil, err
	}
	delim, ok := token.(json.Delim)
	if !ok {
		return token, nil
	}
	object, list := members{}, []any{}
	for decoder.More() {
		var name json.Token
		if delim == '{' {
			if name, err = decoder.Token(); err != nil {
				return nil, err
			}
		}
		value, err := next(decoder)
		if err != nil {
			return nil, err
		}
		if delim == '{' {
			object = append(object, member{fmt.Sprint(name), value})
		} else {
			list = append(list, value)
		}
	}
	if _, err := decoder.Token(); err != nil {
		return nil, err
	}
	if delim == '{' {
		return object, nil
	}
	return list, nil
}

// encode writes what decode has read.
func encode(value any) (json.RawMessage, error) {
	var b bytes.Buffer
	err := write(&b, value)
	return b.Bytes(), err
}

func write(b *bytes.Buffer, value any) error {
	switch value := value.(type) {
	case members:
		b.WriteByte('{')
		for i, m := range value {
			if i > 0 {
				b.WriteByte(',')
			}
			if err := write(b, m.name); err != nil {
				return err
			}
			b.WriteByte(':')
			if err := write(b, m.value); err != nil {
				return err
			}
		}
		b.WriteByte('}')
		return nil
	case []any:
		b.WriteByte('[')
		for i, item := range value {
			if i > 0 {
				b.WriteByte(',')
			}
			if err := write(b, item); err != nil {
				return err
			}
		}
		b.WriteByte(']')
		return nil
	}
	text, err := json.Marshal(value)
	if err != nil {
		return fmt.Errorf("write JSON: %w", err)
	}
	b.Write(text)
	return nil
}
