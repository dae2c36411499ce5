package params

import "testing"

// A template that would never end is refused when it is read.
func TestTemplatesEnd(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		`{{range 100000000000}}{{end}}`,
		`{{if .Task}}{{else}}{{with .Task}}{{range 9}}{{end}}{{end}}{{end}}`,
		`{{define "a"}}{{template "a"}}{{template "a"}}{{end}}{{template "a"}}`,
		`{{define "a"}}{{range 100000000000}}{{end}}{{end}}`,
	} {
		if found := CheckString(text); len(found) == 0 {
			t.Errorf("%s is taken", text)
		}
	}
}
