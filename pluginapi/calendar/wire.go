package calendar

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"
	"time"
)

// wireVersion numbers the form that Marshal writes.
const wireVersion = 1

// wireCalendar and its parts are the wire form: JSON with the layers from the
// lowest to the calendar's own, each in canonical order.
type wireCalendar struct {
	Version int         `json:"v"`
	Layers  []wireLayer `json:"layers"`
}

type wireLayer struct {
	Name   string         `json:"name"`
	Weekly []time.Weekday `json:"weekly"` // null: no pattern; 0 = Sunday
	Closed []wireRule     `json:"closed,omitempty"`
	Open   []wireRule     `json:"open,omitempty"`
}

type wireRule struct {
	Days   string `json:"d"` // as [ParseRule] reads it
	Name   string `json:"n,omitempty"`
	Source string `json:"s,omitempty"`
	Covers int    `json:"y,omitempty"`
}

// Marshal returns the whole calendar with everything it extends, in a form
// that is the same for equal calendars. [Unmarshal] reads it.
func (c *Calendar) Marshal() []byte { return slices.Clone(c.wire) }

// Hash returns the SHA-256 of the form [Calendar.Marshal] returns, in hex:
// equal for calendars that give the same answers for the same stated reasons.
func (c *Calendar) Hash() string { return c.hash }

// Unmarshal returns a calendar equal in every answer to the one that
// [Calendar.Marshal] was called on. It fails on data of another version and
// on whatever [New] refuses.
func Unmarshal(data []byte) (*Calendar, error) {
	var wire wireCalendar
	decoder := json.NewDecoder(bytes.NewReader(data))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&wire); err != nil {
		return nil, fmt.Errorf("decoding calendar: %w", err)
	}
	if wire.Version != wireVersion {
		return nil, fmt.Errorf("decoding calendar: expected version %d, got %d", wireVersion, wire.Version)
	}
	if len(wire.Layers) == 0 {
		return nil, fmt.Errorf("decoding calendar: it has no layers")
	}
	layers := make([]*layer, 0, len(wire.Layers))
	for _, w := range wire.Layers {
		l, err := w.decode()
		if err != nil {
			return nil, fmt.Errorf("decoding calendar layer %q: %w", w.Name, err)
		}
		layers = append(layers, l)
	}
	return assemble(layers)
}

func (c *Calendar) encode() {
	wire := wireCalendar{Version: wireVersion}
	for _, l := range c.layers {
		wire.Layers = append(wire.Layers, wireLayer{
			Name:   l.name,
			Weekly: l.weekly.days(),
			Closed: encodeRules(l.closed.rules),
			Open:   encodeRules(l.open.rules),
		})
	}
	// These types hold only numbers and strings, which always encode.
	c.wire, _ = json.Marshal(wire)
	sum := sha256.Sum256(c.wire)
	c.hash = hex.EncodeToString(sum[:])
}

func encodeRules(rules []Rule) []wireRule {
	wire := make([]wireRule, 0, len(rules))
	for _, rule := range rules {
		wire = append(wire, wireRule{Days: rule.String(), Name: rule.Name, Source: rule.Source, Covers: rule.Covers})
	}
	return wire
}

func (w wireLayer) decode() (*layer, error) {
	closed, err := decodeRules(w.Closed)
	if err != nil {
		return nil, err
	}
	open, err := decodeRules(w.Open)
	if err != nil {
		return nil, err
	}
	return newLayer(Spec{Name: w.Name, Weekly: w.Weekly, Closed: closed, Open: open})
}

func decodeRules(wire []wireRule) ([]Rule, error) {
	rules := make([]Rule, 0, len(wire))
	for _, w := range wire {
		rule, err := ParseRule(w.Days)
		if err != nil {
			return nil, err
		}
		rule.Name, rule.Source, rule.Covers = w.Name, w.Source, w.Covers
		rules = append(rules, rule)
	}
	return rules, nil
}
