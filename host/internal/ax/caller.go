package ax

import (
	"context"
	"slices"
)

// Role is what somebody may do over HTTP.
type Role string

// Roles; each may do what those before it may.
const (
	RoleViewer   Role = "viewer"   // looks
	RoleOperator Role = "operator" // runs, pauses, cancels, silences
	RoleAdmin    Role = "admin"    // changes how hosts work
)

// Roles returns all roles, the least one first.
func Roles() []Role { return []Role{RoleViewer, RoleOperator, RoleAdmin} }

// AtLeast reports whether the role may do what another one may. One that is not
// known may do nothing.
func (r Role) AtLeast(other Role) bool {
	rank := slices.Index(Roles(), r)
	return rank >= 0 && rank >= slices.Index(Roles(), other)
}

// Caller is who asks for something over HTTP.
type Caller struct {
	// Name is noted with changes.
	Name string
	Role Role
	// Groups are those whose tasks it sees; nil for all tasks.
	Groups []string
	// Session says that it came by a cookie, which it can give back.
	Session bool
}

// Restricted reports whether there are tasks that the caller does not see.
func (c Caller) Restricted() bool { return c.Groups != nil }

// Sees reports whether the caller sees the tasks of a group.
func (c Caller) Sees(group string) bool {
	return c.Groups == nil || slices.Contains(c.Groups, group)
}

// MayDefine reports whether the caller may make, or change, a task of a group.
// Commands tells that its job runs commands as the user of the host: that is for
// those who could write the configuration as well.
func (c Caller) MayDefine(group string, commands bool) bool {
	need := RoleOperator
	if commands {
		need = RoleAdmin
	}
	return c.Role.AtLeast(need) && c.Sees(group)
}

type callerKey struct{}

// WithCaller returns a context that names who asks.
func WithCaller(ctx context.Context, c Caller) context.Context {
	return context.WithValue(ctx, callerKey{}, c)
}

// CallerOf returns who asks. Without one it is somebody who may do, and sees,
// nothing.
func CallerOf(ctx context.Context) Caller {
	if c, ok := ctx.Value(callerKey{}).(Caller); ok {
		return c
	}
	return Caller{Groups: []string{}}
}
