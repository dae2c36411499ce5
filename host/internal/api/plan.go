package api

import (
	"context"
	"encoding/json"
	"net/http"

	"github.com/danielgtaylor/huma/v2"

	"github.com/axsched/ax/host/internal/preview"
)

// maxCandidate bounds a configuration that is to be compared: 10,000 tasks have
// some 10 MiB.
const maxCandidate = 64 << 20

// Candidate is a configuration that may take the place of the host's, as far as
// its tasks go. Secrets are taken out of it.
type Candidate struct {
	App string `json:"app"`
	// Tasks are ax.Task in JSON, Calendars what calendar.Marshal writes.
	Tasks     []json.RawMessage          `json:"tasks" nullable:"false" doc:"Definitions of tasks, as the command line makes them from a file"`
	Calendars map[string]json.RawMessage `json:"calendars,omitempty" doc:"The calendars that they name"`
}

func (s *server) planRoutes() {
	register(s, huma.Operation{
		OperationID: "plan", Method: http.MethodPost, Path: Base + "/plan",
		Summary: "Say what a configuration would change",
		Description: "Changes nothing. Without a body the host compares its own file with what it runs; " +
			"if that has faults the answer is 422 and lists them.",
		MaxBodyBytes: maxCandidate, BodyReadTimeout: readTimeout,
		Tags: []string{"host"}, Errors: []int{http.StatusConflict, http.StatusUnprocessableEntity},
	}, s.plan)
}

type planInput struct{ Body *Candidate }

func (s *server) plan(ctx context.Context, in *planInput) (*reply[preview.Plan], error) {
	plan, err := s.backend.Plan(ctx, in.Body)
	if err != nil {
		return nil, err
	}
	return &reply[preview.Plan]{*plan}, nil
}
