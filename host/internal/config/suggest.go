package config

import (
	"strconv"
	"strings"

	"github.com/axsched/ax/host/internal/spelling"
)

// maxListed bounds how many words a message lists.
const maxListed = 30

// insteadOf is the end of a message about an unknown word: the word that was
// probably meant, or else the words there are.
func insteadOf(word string, known []string) string {
	if guess := spelling.Nearest(word, known); guess != "" {
		return ", did you mean " + strconv.Quote(guess) + "?"
	}
	switch {
	case len(known) == 0:
		return ", there is none"
	case len(known) > maxListed:
		return ", expected one of " + strings.Join(known[:maxListed], ", ") + " …"
	}
	return ", expected " + either(known)
}

// either writes words as "a, b or c".
func either(words []string) string {
	last := len(words) - 1
	if last < 1 {
		return strings.Join(words, "")
	}
	return strings.Join(words[:last], ", ") + " or " + words[last]
}
