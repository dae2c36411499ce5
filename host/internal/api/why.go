package api

import (
	"context"
	"net/http"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"github.com/axsched/ax/host/internal/why"
)

// WhyView says why due times of a task did or did not run.
type WhyView struct {
	Task string `json:"task"`
	// Answers is one answer if a time was asked about, else those for the next
	// and the newest due time, as far as there are such.
	Answers []why.Answer `json:"answers" nullable:"false"`
}

func (s *server) whyRoutes() {
	register(s, huma.Operation{
		OperationID: "explain-task", Method: http.MethodGet, Path: Base + "/tasks/{name}/why",
		Summary:     "Tell why a due time of a task did or did not run",
		Description: "Without a time: the next due time, then the newest one.",
		Tags:        []string{"tasks"}, Errors: []int{http.StatusNotFound},
	}, s.explainTask)
}

type whyQuery struct {
	Named
	At time.Time `query:"at" doc:"The time to tell about; one without a fraction stands for all of its second"`
}

func (s *server) explainTask(ctx context.Context, in *whyQuery) (*reply[WhyView], error) {
	answers, err := s.backend.Why(ctx, in.Name, in.At)
	if err != nil {
		return nil, err
	}
	if answers == nil {
		answers = []why.Answer{}
	}
	return &reply[WhyView]{WhyView{Task: in.Name, Answers: answers}}, nil
}
