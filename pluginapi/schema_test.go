package pluginapi

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
	"time"
)

type allSettings struct {
	Hour    int               `json:"hour" ax:"default=2,min=0,max=23" doc:"Hour of the day."`
	Mode    string            `json:"mode,omitempty" ax:"enum=fast|safe,default=safe"`
	Code    string            `json:"code" ax:"required,pattern=^[A-Z]{2,3}$"`
	Token   string            `json:"token" ax:"secret,min=8"`
	Wait    Duration          `json:"wait" ax:"default=1m30s,max=1d"`
	Factor  float64           `json:"factor" ax:"min=0.5,default=1.5"`
	Retries uint8             `json:"retries"`
	On      bool              `json:"on" ax:"default=true"`
	Days    []string          `json:"days" ax:"enum=mon|tue|wed,min=1,default=mon|tue"`
	Env     map[string]string `json:"env"`
	Extra   map[string]any    `json:"extra"`
	At      time.Time         `json:"at"`
	Server  server            `json:"server"`
	Backup  *server           `json:"backup"`
	Hosts   []server          `json:"hosts"`
	Hidden  string            `json:"-"`
	private string            //nolint:unused // it must not be seen
	common
}

type server struct {
	Host string `json:"host" ax:"default=localhost,format=hostname"`
	Port int    `json:"port" ax:"default=80,min=1,max=65535"`
}

type common struct {
	Label string `json:"label"`
}

const allSchema = `{
  "type": "object",
  "properties": {
    "at": {"type": "string"},
    "backup": {"type": "object", "properties": {
      "host": {"type": "string", "default": "localhost", "format": "hostname"},
      "port": {"type": "integer", "default": 80, "minimum": 1, "maximum": 65535}}, "additionalProperties": false},
    "code": {"type": "string", "pattern": "^[A-Z]{2,3}$"},
    "days": {"type": "array", "default": ["mon", "tue"], "minItems": 1,
      "items": {"type": "string", "enum": ["mon", "tue", "wed"]}},
    "env": {"type": "object", "additionalProperties": {"type": "string"}},
    "extra": {"type": "object", "additionalProperties": {}},
    "factor": {"type": "number", "default": 1.5, "minimum": 0.5},
    "hosts": {"type": "array", "items": {"type": "object", "properties": {
      "host": {"type": "string", "default": "localhost", "format": "hostname"},
      "port": {"type": "integer", "default": 80, "minimum": 1, "maximum": 65535}}, "additionalProperties": false}},
    "hour": {"type": "integer", "description": "Hour of the day.", "default": 2, "minimum": 0, "maximum": 23},
    "label": {"type": "string"},
    "mode": {"type": "string", "default": "safe", "enum": ["fast", "safe"]},
    "on": {"type": "boolean", "default": true},
    "retries": {"type": "integer", "minimum": 0},
    "server": {"type": "object", "properties": {
      "host": {"type": "string", "default": "localhost", "format": "hostname"},
      "port": {"type": "integer", "default": 80, "minimum": 1, "maximum": 65535}}, "additionalProperties": false},
    "token": {"type": "string", "minLength": 8, "writeOnly": true},
    "wait": {"type": "string", "default": "1m30s", "pattern": "^([0-9]+(\\.[0-9]+)?(ms|s|m|h|d|w))+$", "format": "duration"}
  },
  "required": ["code"],
  "additionalProperties": false
}`

func TestSchemaOf(t *testing.T) {
	t.Parallel()
	got, err := SchemaOf[allSettings]()
	if err != nil {
		t.Fatal(err)
	}
	var want bytes.Buffer
	if err := json.Compact(&want, []byte(allSchema)); err != nil {
		t.Fatal(err)
	}
	if string(got) != want.String() {
		t.Errorf("got\n%s\nwant\n%s", got, want.String())
	}
}

func TestSchemaOfNothing(t *testing.T) {
	t.Parallel()
	got, err := SchemaOf[struct{}]()
	if want := `{"type":"object","additionalProperties":false}`; err != nil || string(got) != want {
		t.Errorf("%s, %v, want %s", got, err, want)
	}
}

type endless struct {
	Next []endless `json:"next"`
}

func TestSchemaOfRefuses(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		schema func() (json.RawMessage, error)
		want   string
	}{
		"no struct": {SchemaOf[int], "must be a struct"},
		"pointer":   {SchemaOf[*server], "must be a struct"},
		"channel":   {SchemaOf[struct{ C chan int }], "C: a value of type chan int"},
		"array":     {SchemaOf[struct{ C [2]int }], "C: a value of type [2]int"},
		"std duration": {SchemaOf[struct {
			D []time.Duration `json:"d"`
		}], "d[]: use pluginapi.Duration"},
		"bytes":    {SchemaOf[struct{ B []byte }], "B: use string"},
		"map keys": {SchemaOf[struct{ M map[int]string }], "string keys"},
		"endless":  {SchemaOf[endless], "next[]: type pluginapi.endless contains itself"},
		"two names": {SchemaOf[struct {
			Name string `json:"label"`
			common
		}], `two fields are named "label"`},
		"unknown word": {SchemaOf[struct {
			A int `ax:"optional"`
		}], `A: ax tag: "optional" is unknown`},
		"pattern of a number": {SchemaOf[struct {
			A int `ax:"pattern=x"`
		}], `"pattern" is unknown or does not fit`},
		"bad pattern": {SchemaOf[struct {
			A string `ax:"pattern=("`
		}], "missing closing )"},
		"min of a boolean": {SchemaOf[struct {
			A bool `ax:"min=1"`
		}], "do not fit"},
		"default of a wrong type": {SchemaOf[struct {
			A int `ax:"default=x"`
		}], "expected a whole number"},
		"default out of bounds": {SchemaOf[struct {
			A int `ax:"default=9,max=5"`
		}], "default: expected at most 5, got 9"},
		"default and required": {SchemaOf[struct {
			A int `ax:"default=9,required"`
		}], "cannot have a default"},
		"enum of a wrong type": {SchemaOf[struct {
			A int `ax:"enum=1|two"`
		}], "expected a whole number"},
		"nested": {SchemaOf[struct {
			A struct {
				B []struct {
					C func() `json:"c"`
				} `json:"b"`
			} `json:"a"`
		}], "a.b[].c: a value of type func()"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, err := test.schema()
			if err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("%s, %v, want %q", got, err, test.want)
			}
		})
	}
}
