//go:build !unix

package host

// lockDir does nothing where there is no flock; the database is locked anyhow.
func lockDir(string) (unlock func(), err error) { return func() {}, nil }
