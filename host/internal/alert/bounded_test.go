package alert

import "testing"

// A template that would never end is refused before it is tried.
func TestTemplatesEnd(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		`{{range 100000000000}}{{end}}`,
		`{{$n := 100000000000}}{{range $n}}{{end}}`,
		`{{if true}}{{with .Title}}{{range len .}}{{end}}{{end}}{{end}}`,
		`{{range .Tasks}}{{range .Count}}{{end}}{{end}}`,
		`{{define "a"}}{{template "a"}}{{template "a"}}{{end}}{{template "a"}}`,
		`{{define "a"}}{{range 100000000000}}{{end}}{{end}}`,
	} {
		if _, err := ParseTemplate(text); err == nil {
			t.Errorf("%s is taken", text)
		}
	}
	for _, text := range []string{
		`{{range .Tasks}}{{.Name}}{{else}}none{{end}}`, `{{with .Title}}{{range $.Hosts}}{{.}}{{end}}{{end}}`, `{{range .More}}{{.}}{{end}}`,
	} {
		if _, err := ParseTemplate(text); err != nil {
			t.Errorf("%s: %v", text, err)
		}
	}
}
