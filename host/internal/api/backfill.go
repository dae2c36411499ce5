package api

import (
	"context"
	"net/http"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"github.com/axsched/ax/host/internal/ax"
)

// BackfillOptions ask for runs of past due times.
type BackfillOptions struct {
	// From and To bound the due times: From <= due < To; a zero To is now.
	From, To time.Time
	// Limit is how many of them run at once, besides the limit of the task.
	Limit int
	// Again runs those as well whose scheduled instance has succeeded.
	Again bool
	// DryRun changes nothing.
	DryRun bool
	Actor  string
}

// BackfillPlan says which due times a backfill has.
type BackfillPlan struct {
	Task     string    `json:"task"`
	From     time.Time `json:"from"`
	To       time.Time `json:"to" doc:"Not later than now"`
	Due      int       `json:"due" doc:"Due times of the schedule in this span"`
	New      int       `json:"new" doc:"Those that are to run"`
	Existing int       `json:"existing" doc:"Those that are passed over: they were backfilled before, have succeeded, are under way, or the schedule itself will see to them"`
	// Times is filled in for a dry run only.
	Times []BackfillTime `json:"times,omitempty" nullable:"false" doc:"All due times; only in the answer to a dry run"`
}

// BackfillTime is a due time of a backfill.
type BackfillTime struct {
	At  time.Time `json:"at"`
	Run bool      `json:"run" doc:"Whether it is to run"`
	// The rest tells of the instance that is there already; a due time that the
	// schedule has yet to see to is PENDING, and has no instance.
	Status   ax.Status `json:"status,omitempty" doc:"Of the instance that is there already"`
	Kind     ax.Kind   `json:"kind,omitempty"`
	Instance string    `json:"instance,omitempty"`
}

// BackfillProgress says how far the backfills of a task are.
type BackfillProgress struct {
	Task      string    `json:"task"`
	From      time.Time `json:"from,omitzero" required:"false"`
	To        time.Time `json:"to,omitzero" required:"false"`
	Total     int       `json:"total"`
	Waiting   int       `json:"waiting" doc:"TRIGGERED or DISPATCHED"`
	Running   int       `json:"running"`
	Retrying  int       `json:"retrying"`
	Succeeded int       `json:"succeeded"`
	Failed    int       `json:"failed" doc:"FAILED, TIMEOUT or LOST"`
	Canceled  int       `json:"canceled"`
	Done      bool      `json:"done" doc:"Nothing waits or runs any more"`
}

// BackfillCanceled says what a cancel of a backfill did.
type BackfillCanceled struct {
	Canceled int `json:"canceled" doc:"Due times that waited and will not run"`
	Running  int `json:"running" doc:"Runs and retries that go on; cancel them one by one"`
}

// BackfillBody asks for a backfill.
type BackfillBody struct {
	From   time.Time `json:"from" doc:"The first due time may be this one; it must be past"`
	To     time.Time `json:"to,omitzero" required:"false" doc:"Only due times before this one; now if it is absent or later"`
	Limit  int       `json:"limit,omitempty" minimum:"1" maximum:"1000" default:"1" doc:"Runs at once, besides the limit of the task"`
	Again  bool      `json:"again,omitempty" doc:"Run those as well that have succeeded"`
	DryRun bool      `json:"dry_run,omitempty" doc:"Change nothing, list the due times"`
}

// BackfillSpan bounds the due times of a request about backfills.
type BackfillSpan struct {
	From time.Time `json:"from,omitzero" required:"false" doc:"Only due times from this one on"`
	To   time.Time `json:"to,omitzero" required:"false" doc:"Only due times before this one"`
}

func (s *server) backfillRoutes() {
	register(s, huma.Operation{
		OperationID: "backfill-task", Method: http.MethodPost, Path: Base + "/tasks/{name}/backfill",
		Summary:     "Run past due times of a task",
		Description: "Each becomes an instance of the kind backfill with the due time it stands for; they run oldest first, and due times to come go before them. The same request again adds what is missing.",
		Tags:        []string{"tasks"}, Errors: []int{http.StatusNotFound, http.StatusConflict, http.StatusServiceUnavailable},
	}, s.backfillTask)
	register(s, huma.Operation{
		OperationID: "get-backfill", Method: http.MethodGet, Path: Base + "/tasks/{name}/backfill",
		Summary: "Show how far the backfills of a task are", Tags: []string{"tasks"}, Errors: []int{http.StatusNotFound},
	}, s.getBackfill)
	register(s, huma.Operation{
		OperationID: "cancel-backfill", Method: http.MethodPost, Path: Base + "/tasks/{name}/backfill/cancel",
		Summary: "Cancel what waits in the backfills of a task", Tags: []string{"tasks"},
		Description: "Runs under way and retries go on.",
		Errors:      []int{http.StatusNotFound, http.StatusServiceUnavailable},
	}, s.cancelBackfill)
}

type backfillInput struct {
	Named
	Acting
	Body BackfillBody
}

func (s *server) backfillTask(ctx context.Context, in *backfillInput) (*reply[BackfillPlan], error) {
	plan, err := s.backend.Backfill(ctx, in.Name, BackfillOptions{
		From: in.Body.From, To: in.Body.To, Limit: in.Body.Limit,
		Again: in.Body.Again, DryRun: in.Body.DryRun, Actor: in.Actor,
	})
	return &reply[BackfillPlan]{plan}, err
}

type backfillQuery struct {
	Named
	From time.Time `query:"from" doc:"Only due times from this one on"`
	To   time.Time `query:"to" doc:"Only due times before this one"`
}

func (s *server) getBackfill(ctx context.Context, in *backfillQuery) (*reply[BackfillProgress], error) {
	progress, err := s.backend.BackfillProgress(ctx, in.Name, BackfillSpan{From: in.From, To: in.To})
	return &reply[BackfillProgress]{progress}, err
}

type backfillCancel struct {
	Named
	Acting
	Body *BackfillSpan
}

func (s *server) cancelBackfill(ctx context.Context, in *backfillCancel) (*reply[BackfillCanceled], error) {
	var span BackfillSpan
	if in.Body != nil {
		span = *in.Body
	}
	canceled, err := s.backend.CancelBackfill(ctx, in.Name, span, in.Actor)
	return &reply[BackfillCanceled]{canceled}, err
}
