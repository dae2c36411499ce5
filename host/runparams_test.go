package host

import (
	"slices"
	"testing"

	"github.com/axsched/ax/host/internal/api"
)

func TestUnknownParams(t *testing.T) {
	t.Parallel()
	h, _, _ := started(t, `- {name: none, every: 1h, job: {use: exec}}
- {name: own, every: 1h, params: {date: x}, job: {use: exec, with: {command: [echo, "${params.date}"]}}}
- {name: named, enabled: false, every: 1h, job: {use: exec, with: {command: [echo, "${params.rows}"]}}}
- {name: provided, every: 1h, params: {date: x}, params_from: {use: p}, job: {use: exec}}
`)
	for task, want := range map[string][]string{
		"none": nil, "provided": nil,
		"own":   {`the task knows no parameter "dat", its job gets it all the same; did you mean "date"?`},
		"named": {`the task knows no parameter "dat", its job gets it all the same; known: rows`, `the task knows no parameter "date", its job gets it all the same; known: rows`},
	} {
		if got := (backend{h}).UnknownParams(t.Context(), task, api.Object{"dat": "1", "date": "2"}); !slices.Equal(got, want) {
			t.Errorf("%s: %q, want %q", task, got, want)
		}
	}
}
