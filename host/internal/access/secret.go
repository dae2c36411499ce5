package access

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"fmt"

	"golang.org/x/crypto/bcrypt"
)

const (
	// bcryptCost makes a comparison take about a quarter of a second.
	bcryptCost = 12
	// minPassword and maxPassword bound passwords, in bytes; bcrypt looks at no
	// more.
	minPassword = 8
	maxPassword = 72
	// tokenPrefix lets scanners for secrets find tokens.
	tokenPrefix = "ax_"
)

// HashPassword returns what is kept of a password: a hash of bcrypt. It fails if
// the password is too short or too long.
func HashPassword(password string) (string, error) {
	if len(password) < minPassword || len(password) > maxPassword {
		return "", fmt.Errorf("a password has %d to %d bytes", minPassword, maxPassword)
	}
	hash, err := bcrypt.GenerateFromPassword([]byte(password), bcryptCost)
	if err != nil {
		return "", fmt.Errorf("hash the password: %w", err)
	}
	return string(hash), nil
}

// isPassword compares a password with a hash.
func isPassword(hash, password string) bool {
	short := password[:min(len(password), maxPassword)] // else bcrypt passes over the rest
	return bcrypt.CompareHashAndPassword([]byte(hash), []byte(short)) == nil && len(short) == len(password)
}

// NewToken returns a new token and its hash.
func NewToken() (token, hash string) {
	raw := make([]byte, 32)
	_, _ = rand.Read(raw) // never fails
	token = tokenPrefix + hex.EncodeToString(raw)
	return token, HashToken(token)
}

// HashToken returns what is kept of a token. Tokens are random, so that a fast
// hash will do.
func HashToken(token string) string {
	sum := sha256.Sum256([]byte(token))
	return hex.EncodeToString(sum[:])
}
