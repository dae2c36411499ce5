package access

import (
	"maps"

	"github.com/axsched/ax/host/internal/ax"
)

// Rule says who may use a route.
type Rule struct {
	// Role is the least one that is needed; empty lets everybody in.
	Role ax.Role
	// Whole marks what concerns all tasks: it is not for callers who see some
	// groups of tasks only.
	Whole bool
}

var (
	public    = Rule{}
	viewer    = Rule{Role: ax.RoleViewer}
	operator  = Rule{Role: ax.RoleOperator}
	overseer  = Rule{Role: ax.RoleViewer, Whole: true}
	allTasks  = Rule{Role: ax.RoleOperator, Whole: true}
	hostAdmin = Rule{Role: ax.RoleAdmin, Whole: true}
)

// Rules returns the rule of every route, of the API and of the console. A route
// without one serves nobody.
func Rules() map[string]Rule {
	all := map[string]Rule{
		"GET /healthz": public,
		"GET /readyz":  public,
		"GET /metrics": overseer,
	}
	for _, table := range []map[string]Rule{apiRules(), consoleRules()} {
		maps.Copy(all, table)
	}
	return all
}

func apiRules() map[string]Rule {
	return map[string]Rule{
		"GET /api/v1/openapi.json": viewer,
		"GET /api/v1/openapi.yaml": viewer,

		"GET /api/v1/tasks":                         viewer,
		"POST /api/v1/tasks":                        operator, // with a job that runs commands: admin
		"POST /api/v1/tasks/check":                  operator,
		"GET /api/v1/tasks/{name}":                  viewer,
		"PUT /api/v1/tasks/{name}":                  operator,
		"DELETE /api/v1/tasks/{name}":               operator,
		"GET /api/v1/tasks/{name}/definition":       viewer,
		"GET /api/v1/tasks/{name}/next":             viewer,
		"GET /api/v1/tasks/{name}/why":              viewer,
		"GET /api/v1/tasks/{name}/backfill":         viewer,
		"POST /api/v1/tasks/{name}/run":             operator,
		"POST /api/v1/tasks/{name}/pause":           operator,
		"POST /api/v1/tasks/{name}/resume":          operator,
		"POST /api/v1/tasks/{name}/backfill":        operator,
		"POST /api/v1/tasks/{name}/backfill/cancel": operator,

		"GET /api/v1/instances":                 viewer,
		"GET /api/v1/instances/{id}":            viewer,
		"GET /api/v1/instances/{id}/log":        viewer,
		"GET /api/v1/instances/{id}/log/stream": viewer,
		"POST /api/v1/instances/{id}/cancel":    operator,
		"POST /api/v1/callbacks/{id}/{token}":   public, // its token is checked there

		"GET /api/v1/alerts":                 viewer,
		"GET /api/v1/alerts/{id}":            viewer,
		"POST /api/v1/alerts/{id}/resend":    operator,
		"POST /api/v1/alerts/{id}/drop":      operator,
		"GET /api/v1/notifiers":              viewer,
		"POST /api/v1/notifiers/{name}/test": allTasks,
		"GET /api/v1/silences":               viewer,
		"POST /api/v1/silences":              operator,
		"POST /api/v1/silences/{id}/end":     operator,

		"GET /api/v1/components":              viewer,
		"GET /api/v1/calendars":               viewer,
		"POST /api/v1/calendars/{name}/check": allTasks,

		"GET /api/v1/audit":                 viewer,
		"GET /api/v1/backlog":               viewer,
		"GET /api/v1/health":                overseer,
		"GET /api/v1/nodes":                 overseer,
		"GET /api/v1/nodes/cost":            overseer,
		"POST /api/v1/nodes/{name}/drain":   hostAdmin,
		"GET /api/v1/plugins":               overseer,
		"POST /api/v1/plugins/{name}/reset": hostAdmin,
		"POST /api/v1/plan":                 allTasks, // changes nothing, but takes its time
		"POST /api/v1/reload":               hostAdmin,
	}
}

func consoleRules() map[string]Rule {
	return map[string]Rule{
		"GET /static/":                    public,
		"POST /preferences":               public,
		"GET /login":                      public,
		"POST /login":                     public,
		"POST /logout":                    public,
		"GET /login/oidc":                 public,
		"GET /login/oidc/callback":        public,
		"GET /{$}":                        viewer,
		"GET /tasks":                      viewer,
		"POST /tasks":                     operator,
		"GET /tasks/{name}":               viewer,
		"POST /tasks/{name}":              operator,
		"POST /tasks/{name}/run":          operator,
		"GET /define":                     operator,
		"POST /define":                    operator, // with a job that runs commands: admin
		"POST /define/preview":            operator,
		"GET /tasks/{name}/edit":          operator,
		"POST /tasks/{name}/edit":         operator,
		"GET /tasks/{name}/delete":        operator,
		"POST /tasks/{name}/delete":       operator,
		"POST /calendars/{name}/check":    allTasks,
		"GET /runs":                       viewer,
		"GET /runs/{id}":                  viewer,
		"GET /runs/{id}/log":              viewer,
		"POST /runs/{id}/cancel":          operator,
		"POST /runs/{id}/again":           operator,
		"GET /alerts":                     viewer,
		"GET /alerts/{id}":                viewer,
		"POST /alerts/{id}/resend":        operator,
		"POST /alerts/{id}/drop":          operator,
		"POST /notifiers/{name}/test":     allTasks,
		"POST /silences":                  operator,
		"POST /silences/{id}/end":         operator,
		"GET /calendars":                  viewer,
		"GET /calendars/{name}":           viewer,
		"GET /nodes":                      overseer,
		"POST /nodes/{incarnation}/drain": hostAdmin,
		"GET /plugins":                    overseer,
		"POST /plugins/{name}/reset":      hostAdmin,
		"POST /reload":                    hostAdmin,
		"GET /audit":                      overseer,
	}
}
