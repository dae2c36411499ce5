// Package spelling guesses which of some known words is meant by a misspelt one.
package spelling

import "strings"

// Nearest returns the word that is most likely meant by a misspelt one, or ""
// if none is close.
func Nearest(word string, known []string) string {
	best, bestCost := "", 2+len(word)/3
	for _, candidate := range known {
		cost := distance(strings.ToLower(word), strings.ToLower(candidate))
		if cost < min(bestCost, len(candidate)) {
			best, bestCost = candidate, cost
		}
	}
	return best
}

// distance counts the letters to insert, delete, replace or swap with their
// neighbour to get from a to b.
func distance(a, b string) int {
	from, to := []rune(a), []rune(b)
	older, old := make([]int, len(to)+1), make([]int, len(to)+1)
	row := make([]int, len(to)+1)
	for j := range old {
		old[j] = j
	}
	for i := 1; i <= len(from); i++ {
		row[0] = i
		for j := 1; j <= len(to); j++ {
			row[j] = min(old[j]+1, row[j-1]+1, old[j-1]+1)
			if from[i-1] == to[j-1] {
				row[j] = old[j-1]
			}
			if i > 1 && j > 1 && from[i-1] == to[j-2] && from[i-2] == to[j-1] {
				row[j] = min(row[j], older[j-2]+1)
			}
		}
		older, old, row = old, row, older
	}
	return old[len(to)]
}
