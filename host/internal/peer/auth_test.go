package peer

import (
	"math/rand/v2"
	"testing"
	"time"
)

// TestWindow compares the window with a list of what was used.
func TestWindow(t *testing.T) {
	t.Parallel()
	for seed := range uint64(50) {
		r := rand.New(rand.NewPCG(seed, 1))
		var w window
		used := map[uint64]bool{}
		highest := uint64(0)
		for range 5000 {
			n := uint64(max(int64(highest)+r.Int64N(60)-40, 0))
			if r.IntN(200) == 0 {
				n = highest + uint64(r.IntN(3*windowSize))
			}
			want := n > 0 && n+windowSize > highest && !used[n]
			if got := w.use(n); got != want {
				t.Fatalf("seed %d: number %d with %d the highest: %v, want %v", seed, n, highest, got, want)
			}
			if want {
				used[n] = true
				highest = max(highest, n)
			}
		}
	}
}

// TestMACsDiffer: moving a letter from one part to the next, or a message to
// another purpose, makes another code.
func TestMACsDiffer(t *testing.T) {
	t.Parallel()
	key := []byte("0123456789abcdef")
	h := hello{App: "a", From: "bc", To: "d", Nonce: "e"}
	moved := hello{App: "ab", From: "c", To: "d", Nonce: "e"}
	w := welcome{Session: "s", Nonce: "n"}
	codes := map[string]string{}
	for name, code := range map[string]string{
		"hello": h.sign(key), "moved": moved.sign(key), "welcome": w.sign(key, h), "welcome to another": w.sign(key, moved),
		"other": welcome{Session: "s", Nonce: "n", Other: true}.sign(key, h),
		"key":   string(sessionKey(key, h, w)), "request": requestMAC(key, "1", "POST", "/p", "b"),
		"number": requestMAC(key, "11", "POST", "/p", "b"), "path": requestMAC(key, "1", "POST", "/q", "b"),
		"body": requestMAC(key, "1", "POST", "/p", "c"), "answer": answerMAC(key, "1", 200, "b"), "status": answerMAC(key, "1", 400, "b"),
		"secret": h.sign([]byte("0123456789abcdeg")),
	} {
		if other, ok := codes[code]; ok {
			t.Errorf("%s and %s have the same code", name, other)
		}
		codes[code] = name
	}
}

func TestSessionsAreBounded(t *testing.T) {
	t.Parallel()
	s := sessions{all: map[string]*session{}}
	now := time.Now()
	for range maxSessions + 100 {
		now = now.Add(time.Millisecond)
		s.open(nonce(), &session{}, now)
	}
	if len(s.all) != maxSessions {
		t.Errorf("%d sessions, want %d", len(s.all), maxSessions)
	}
	s.open("new", &session{}, now.Add(2*sessionIdle))
	if len(s.all) != 1 || s.find("new") == nil {
		t.Errorf("%d sessions after all were idle, want the new one", len(s.all))
	}
}
