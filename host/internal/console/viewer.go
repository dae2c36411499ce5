package console

import (
	"net/http"
	"time"

	"github.com/axsched/ax/host/internal/ax"
)

// Viewer is who looks at a page. That they may was decided before.
type Viewer struct{ ax.Caller }

// Operates reports whether the viewer may run and stop things.
func (v Viewer) Operates() bool { return v.Role.AtLeast(ax.RoleOperator) }

// Administers reports whether the viewer may change how the host works.
func (v Viewer) Administers() bool { return v.Role.AtLeast(ax.RoleAdmin) && !v.Restricted() }

// Oversees reports whether the viewer sees what concerns all tasks.
func (v Viewer) Oversees() bool { return !v.Restricted() }

// viewerOf is who looks at a page: whom the guard around the pages let in.
func viewerOf(r *http.Request) Viewer { return Viewer{ax.CallerOf(r.Context())} }

// Logins is how people log in and out.
type Logins interface {
	// Ways tells whether people log in with a password, and at which provider;
	// neither where everybody may do everything.
	Ways() (password bool, provider string)
	// Login starts a session if the password is that of the user. A wait that is not
	// zero says that nobody looked, since there were too many attempts.
	Login(w http.ResponseWriter, r *http.Request, name, password string) (ok bool, wait time.Duration)
	Logout(w http.ResponseWriter, r *http.Request)
	// Depart sends a browser to the provider; Arrive starts a session when it comes
	// from there, and returns the page that was given to Depart.
	Depart(w http.ResponseWriter, r *http.Request, back string) error
	Arrive(w http.ResponseWriter, r *http.Request) (back string, err error)
}
