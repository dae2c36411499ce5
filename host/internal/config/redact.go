package config

import (
	"strings"
)

// Redacted stands in a text where a secret was.
const Redacted = "${…}"

// Redactor returns what replaces every secret in a text, also in the form that
// it has within JSON. It may be used from many goroutines.
func (c *Config) Redactor() *strings.Replacer {
	var pairs []string
	for _, secret := range c.Secrets {
		pairs = append(pairs, secret, Redacted)
		quoted := string(appendText(nil, secret))
		if inner := quoted[1 : len(quoted)-1]; inner != secret {
			pairs = append(pairs, inner, Redacted)
		}
	}
	return strings.NewReplacer(pairs...)
}
