package pluginhost

import (
	"cmp"
	"strconv"
	"strings"
)

// compareVersions orders semantic versions as semver.org 2.0.0 section 11 does.
// Build metadata does not count.
func compareVersions(a, b string) int {
	a, _, _ = strings.Cut(a, "+")
	b, _, _ = strings.Cut(b, "+")
	coreA, preA, hasPreA := strings.Cut(a, "-")
	coreB, preB, hasPreB := strings.Cut(b, "-")
	if c := compareParts(coreA, coreB); c != 0 {
		return c
	}
	switch {
	case hasPreA && hasPreB:
		return compareParts(preA, preB)
	case hasPreA:
		return -1
	case hasPreB:
		return 1
	}
	return 0
}

// compareParts compares identifiers between dots: numbers by value and below
// words, words by their bytes, and a longer list wins if all else is equal.
func compareParts(a, b string) int {
	listA, listB := strings.Split(a, "."), strings.Split(b, ".")
	for i := range min(len(listA), len(listB)) {
		numA, errA := strconv.ParseUint(listA[i], 10, 64)
		numB, errB := strconv.ParseUint(listB[i], 10, 64)
		var c int
		switch {
		case errA == nil && errB == nil:
			c = cmp.Compare(numA, numB)
		case errA == nil:
			c = -1
		case errB == nil:
			c = 1
		default:
			c = strings.Compare(listA[i], listB[i])
		}
		if c != 0 {
			return c
		}
	}
	return cmp.Compare(len(listA), len(listB))
}
