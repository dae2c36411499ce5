package api

import (
	"context"
	"net/http"

	"github.com/danielgtaylor/huma/v2"

	"github.com/axsched/ax/host/internal/preview"
)

// maxHolidays bounds a file of holidays, as the configuration does.
const maxHolidays = 1 << 20

// CalendarBackend is what the API asks of the host about calendars, which live in
// files.
type CalendarBackend interface {
	// ListCalendars returns the calendars by name.
	ListCalendars(ctx context.Context) ([]CalendarView, error)
	// CheckCalendar says what a file would change about the tasks with a calendar,
	// in place of one that the calendar reads; an empty file stands for the only
	// one. Nothing is changed. Faults in the file are an *Invalid.
	CheckCalendar(ctx context.Context, name, file string, content []byte) (CalendarCheck, error)
}

// CalendarView is a calendar of the configuration.
type CalendarView struct {
	Name  string   `json:"name"`
	First int      `json:"first_year,omitempty" doc:"The first year for which it has lists; absent if it needs none"`
	Last  int      `json:"last_year,omitempty"`
	Files []string `json:"files" nullable:"false" doc:"The files that it reads, those of calendars that it extends included"`
	Tasks []string `json:"tasks" nullable:"false" doc:"Those that use it"`
	Gap   string   `json:"gap,omitempty" doc:"What it does not know soon"`
}

// CalendarList is a page of calendars.
type CalendarList struct {
	Calendars []CalendarView `json:"calendars" nullable:"false"`
	Next      string         `json:"next,omitempty" doc:"Value of after for the next page; absent on the last one"`
}

// CalendarCheck is what a file of holidays would change.
type CalendarCheck struct {
	Calendar string             `json:"calendar"`
	File     string             `json:"file" doc:"The file to be replaced on each host; the change is put in force by that alone"`
	Days     []CalendarDay      `json:"days" nullable:"false" doc:"Days that change, at most 1000"`
	Tasks    []preview.TaskPlan `json:"tasks" nullable:"false" doc:"Tasks whose due times change"`
	Same     int                `json:"unchanged" doc:"Tasks with the calendar whose due times stay"`
	Warnings []string           `json:"warnings,omitempty" nullable:"false"`
}

// CalendarDay is a day that a file changes.
type CalendarDay struct {
	Date   string `json:"date" format:"date"`
	Before bool   `json:"open_before"`
	After  bool   `json:"open_after"`
	Reason string `json:"reason,omitempty" doc:"Why it is so with the file"`
}

func (s *server) calendarRoutes() {
	tags := []string{"calendars"}
	register(s, huma.Operation{
		OperationID: "list-calendars", Method: http.MethodGet, Path: Base + "/calendars", Tags: tags,
		Summary: "List the calendars of the configuration",
	}, s.listCalendars)
	register(s, huma.Operation{
		OperationID: "check-calendar", Method: http.MethodPost, Path: Base + "/calendars/{name}/check", Tags: tags,
		Summary:     "Say which due times a file of holidays would move",
		Description: "Changes nothing: calendars live in files, beside the configuration. The body is what would replace one of them.",
		Errors:      []int{http.StatusNotFound, http.StatusConflict, http.StatusUnprocessableEntity}, MaxBodyBytes: maxHolidays,
	}, s.checkCalendar)
}

func (s *server) listCalendars(ctx context.Context, in *Paging) (*reply[CalendarList], error) {
	list, err := s.backend.ListCalendars(ctx)
	if err != nil {
		return nil, err
	}
	rows, next := paged(list, *in, func(c CalendarView) string { return c.Name })
	for i := range rows {
		rows[i].Files, rows[i].Tasks = orEmpty(rows[i].Files), orEmpty(rows[i].Tasks)
	}
	return &reply[CalendarList]{CalendarList{rows, next}}, nil
}

type calendarInput struct {
	Named
	File    string `query:"file" maxLength:"1024" doc:"Which of its files is replaced, as list-calendars names it; needed if it has several"`
	RawBody []byte `contentType:"application/octet-stream"`
}

func (s *server) checkCalendar(ctx context.Context, in *calendarInput) (*reply[CalendarCheck], error) {
	check, err := s.backend.CheckCalendar(ctx, in.Name, in.File, in.RawBody)
	check.Days, check.Tasks = orEmpty(check.Days), orEmpty(check.Tasks)
	return &reply[CalendarCheck]{check}, err
}
