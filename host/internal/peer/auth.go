package peer

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"strconv"
)

// Headers of requests and answers.
const (
	headerSession = "Ax-Session"
	headerNumber  = "Ax-Number"
	headerBody    = "Ax-Body" // SHA-256 of the body, in hex
	headerMAC     = "Ax-Mac"
	headerCode    = "Ax-Code" // says why a request was not let in
)

// Values of headerCode.
const (
	// codeSession: the server knows no such session. Since nobody has proved
	// anything yet, it only leads to a new hello.
	codeSession = "session"
	// codeStranger: the proof is wrong.
	codeStranger = "stranger"
)

// hello opens a session.
type hello struct {
	App   string `json:"app"`
	From  string `json:"from"`
	To    string `json:"to"`
	Nonce string `json:"nonce"`
	MAC   string `json:"mac"`
}

// welcome answers a hello. It is believed only if its MAC is right.
type welcome struct {
	Session string `json:"session,omitempty"`
	Nonce   string `json:"nonce,omitempty"`
	// Other is set instead if the address is another host's.
	Other bool   `json:"other,omitempty"`
	MAC   string `json:"mac"`
}

// mac returns an HMAC-SHA256, in hex, of a label and parts. Each is preceded by
// its length, so that no two lists are alike.
func mac(key []byte, label string, parts ...string) string {
	h := hmac.New(sha256.New, key)
	var size [8]byte
	for _, part := range append([]string{label}, parts...) {
		binary.BigEndian.PutUint64(size[:], uint64(len(part)))
		h.Write(size[:])
		h.Write([]byte(part))
	}
	return hex.EncodeToString(h.Sum(nil))
}

// equal compares in constant time.
func equal(a, b string) bool { return hmac.Equal([]byte(a), []byte(b)) }

func (h hello) sign(secret []byte) string {
	return mac(secret, "ax cluster hello", h.App, h.From, h.To, h.Nonce)
}

func (w welcome) sign(secret []byte, h hello) string {
	return mac(secret, "ax cluster welcome", h.App, h.From, h.To, h.Nonce, w.Session, w.Nonce, strconv.FormatBool(w.Other))
}

// sessionKey is what both sides derive from their nonces.
func sessionKey(secret []byte, h hello, w welcome) []byte {
	return []byte(mac(secret, "ax cluster session", h.App, h.From, h.To, h.Nonce, w.Session, w.Nonce))
}

// requestMAC covers the number as it stands in the header.
func requestMAC(key []byte, number, method, path, body string) string {
	return mac(key, "ax cluster request", number, method, path, body)
}

func answerMAC(key []byte, number string, status int, body string) string {
	return mac(key, "ax cluster answer", number, strconv.Itoa(status), body)
}

func hashOf(body []byte) string {
	sum := sha256.Sum256(body)
	return hex.EncodeToString(sum[:])
}

func nonce() string {
	var b [16]byte
	rand.Read(b[:]) // never fails since Go 1.24
	return hex.EncodeToString(b[:])
}

// windowSize is by how much requests of a session may overtake each other.
const windowSize = 1024

// window knows which numbers have been used: the highest, and the ones before it
// as bits in a ring, as in RFC 6479.
type window struct {
	highest uint64
	used    [windowSize / 64]uint64
}

// use reports whether a number is new, and notes it.
func (w *window) use(n uint64) bool {
	switch {
	case n == 0 || n+windowSize <= w.highest:
		return false
	case n >= w.highest+windowSize:
		clear(w.used[:])
		w.highest = n
	default:
		for ; w.highest < n; w.highest++ {
			w.set(w.highest+1, false)
		}
	}
	if w.used[n/64%uint64(len(w.used))]&(1<<(n%64)) != 0 {
		return false
	}
	w.set(n, true)
	return true
}

func (w *window) set(n uint64, used bool) {
	word, bit := &w.used[n/64%uint64(len(w.used))], uint64(1)<<(n%64)
	if *word &^= bit; used {
		*word |= bit
	}
}
