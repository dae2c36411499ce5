package console

// Role is what somebody may do.
type Role string

// Roles; each may do what those before it may.
const (
	RoleViewer   Role = "viewer"   // looks
	RoleOperator Role = "operator" // runs, pauses, cancels, silences
	RoleAdmin    Role = "admin"    // restarts plugins, reads the configuration again
)

// atLeast reports whether the role may do what another one may. A role that is
// not known may do nothing but look.
func (r Role) atLeast(other Role) bool {
	rank := map[Role]int{RoleOperator: 1, RoleAdmin: 2}
	return rank[r] >= rank[other]
}

// Viewer is who looks at a page.
type Viewer struct {
	// Name is noted with changes.
	Name string
	Role Role
}

// Operates reports whether the viewer may run and stop things.
func (v Viewer) Operates() bool { return v.Role.atLeast(RoleOperator) }

// Administers reports whether the viewer may change how the host works.
func (v Viewer) Administers() bool { return v.Role.atLeast(RoleAdmin) }
