package access

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"golang.org/x/crypto/bcrypt"

	"github.com/axsched/ax/host/internal/ax"
)

func TestLogin(t *testing.T) {
	t.Parallel()
	b := newBed(t, settings(t))
	for _, test := range []struct{ name, password string }{
		{"ann", "wrong"}, {"ann", ""}, {"", ""}, {"nobody", "correct horse"}, {"ann", "battery staple"}, {"ann", "correct horse" + strings.Repeat("x", 100)},
	} {
		if cookie, wait := b.login(test.name, test.password); cookie != "" || wait != 0 {
			t.Errorf("%+v: %q, wait %s", test, cookie, wait)
		}
	}
	rows := b.trail("access.login_failed")
	if len(rows) != 3 || rows[0].Object != "ann" || rows[1].Object != "" || rows[2].Object != "nobody" {
		t.Errorf("failed: %+v", rows)
	}
}

// TestLongPasswords: what bcrypt does not look at does not make another password.
func TestLongPasswords(t *testing.T) {
	t.Parallel()
	longest := strings.Repeat("p", maxPassword)
	hash, err := bcrypt.GenerateFromPassword([]byte(longest), bcrypt.MinCost)
	if err != nil {
		t.Fatal(err)
	}
	if !isPassword(string(hash), longest) || isPassword(string(hash), longest+"p") {
		t.Error("the 73rd byte does not count")
	}
	for _, bad := range []string{"short", longest + "p"} {
		if _, err := HashPassword(bad); err == nil {
			t.Errorf("%d bytes are taken", len(bad))
		}
	}
	if hash, err := HashPassword("correct horse"); err != nil || !isPassword(hash, "correct horse") {
		t.Errorf("%s: %v", hash, err)
	}
}

func TestTooManyAttempts(t *testing.T) {
	t.Parallel()
	b := newBed(t, settings(t))
	for range triesPair {
		if _, wait := b.login("ann", "wrong"); wait != 0 {
			t.Fatalf("wait %s", wait)
		}
	}
	if cookie, wait := b.login("ann", "correct horse"); cookie != "" || wait != tryAgain {
		t.Errorf("one more: %q, wait %s", cookie, wait)
	}
	if cookie, _ := b.loginFrom("ann", "correct horse", "198.51.100.9:1"); cookie == "" {
		t.Error("ann is locked out elsewhere")
	}
	b.later(tryAgain)
	if cookie, _ := b.login("ann", "correct horse"); cookie == "" {
		t.Error("ann does not get in after the wait")
	}
	for range triesPair {
		b.login("ann", "wrong")
	}
	if _, wait := b.login("ann", "wrong"); wait == 0 {
		t.Error("a login gives more attempts than there were")
	}
}

func TestOneAddressWithManyNames(t *testing.T) {
	t.Parallel()
	b := newBed(t, settings(t))
	refused := 0
	for i := range 2 * triesAddress {
		if _, wait := b.login(fmt.Sprint("user", i), "wrong"); wait > 0 {
			refused++
		}
	}
	if refused != triesAddress {
		t.Errorf("%d refused", refused)
	}
}

func TestManyAddressesWithOneName(t *testing.T) {
	t.Parallel()
	throttle, now := newThrottle(), time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC)
	for i := range triesName {
		if wait := throttle.take("ann", fmt.Sprint("address ", i), now); wait != 0 {
			t.Fatalf("attempt %d: wait %s", i, wait)
		}
	}
	if wait := throttle.take("ann", "one more", now); wait != tryAgain {
		t.Errorf("wait %s", wait)
	}
}

// TestThrottleIsBounded: names without end take no memory without end, and do not
// wash away what is known of an address.
func TestThrottleIsBounded(t *testing.T) {
	t.Parallel()
	throttle, now := newThrottle(), time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC)
	for i := range triesAddress {
		throttle.take(fmt.Sprint("x", i), "guilty", now)
	}
	for i := range 3 * mostTried {
		throttle.take(fmt.Sprint("name ", i), fmt.Sprint("address ", i%5000), now)
	}
	if n := len(throttle.buckets); n > mostTried+3 {
		t.Errorf("%d are remembered", n)
	}
	if throttle.take("y", "guilty", now) == 0 {
		t.Error("the address is forgotten")
	}
}

// TestNamesTakeTheSameTime: a login with a name that is not there costs a comparison
// as well. It is told by what that costs, which at this cost is much.
func TestNamesTakeTheSameTime(t *testing.T) {
	t.Parallel()
	hash, err := bcrypt.GenerateFromPassword([]byte("correct horse"), 11)
	if err != nil {
		t.Fatal(err)
	}
	s := settings(t)
	s.Users = []User{{Name: "ann", Hash: string(hash), Role: ax.RoleViewer}}
	b := newBed(t, s)
	took := func(name string) time.Duration {
		begun := time.Now()
		b.guard.Login(httptest.NewRecorder(), httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/login", nil), name, "wrong")
		return time.Since(begun)
	}
	known, unknown := took("ann"), took("nobody")
	if unknown < known/8 {
		t.Errorf("a known name takes %s, an unknown one %s", known, unknown)
	}
}

// TestLoginsTakeTurns: comparisons wait for one another, and give up with the
// request.
func TestLoginsTakeTurns(t *testing.T) {
	t.Parallel()
	b := newBed(t, settings(t))
	b.guard.hashing <- struct{}{}
	b.guard.hashing <- struct{}{}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if b.guard.compare(ctx, b.guard.state.Load(), "ann", "correct horse") {
		t.Error("it was compared out of turn")
	}
	<-b.guard.hashing
	if !b.guard.compare(t.Context(), b.guard.state.Load(), "ann", "correct horse") {
		t.Error("it was not compared")
	}
}

// TestRefusalsAreBounded: whoever is refused does not fill the audit trail, and what
// is left out is counted.
func TestRefusalsAreBounded(t *testing.T) {
	t.Parallel()
	b := newBed(t, settings(t))
	for i := range 10_000 {
		b.ask("POST", "/api/v1/reload", "Authorization", "Bearer ax_ci", "From", fmt.Sprintf("192.0.%d.%d:1", i/200, i%200))
	}
	if n := len(b.trail("access.denied")); n != refusalRows {
		t.Errorf("%d rows", n)
	}
	b.later(refusalSpan)
	for range 5 {
		b.ask("POST", "/api/v1/reload", "Authorization", "Bearer ax_ci")
	}
	rows := b.trail("access.denied")
	if n := len(rows); n != refusalRows+1 || string(rows[n-1].Detail) != fmt.Sprintf(`{"address":"192.0.2.7","unlisted":%d}`, 10_000-refusalRows) {
		t.Errorf("%d rows, the last one %s", n, rows[n-1].Detail)
	}
}
