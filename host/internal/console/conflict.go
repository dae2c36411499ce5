package console

import (
	"net/http"
	"slices"
	"strings"

	"github.com/axsched/ax/host/internal/api"
)

// conflictData is what a page shows where two people have changed the same task.
type conflictData struct {
	Theirs api.Definition
	// Lines are the two definitions side by side.
	Lines []linePair
	// Mine is what the form said, to be sent again in place of theirs.
	Mine string
	// Seen is the version that the form was made of.
	Seen int64
}

// linePair is a line of both sides; one that only one side has is empty on the
// other.
type linePair struct {
	Theirs, Mine string
	Same         bool
}

func (s *console) showConflict(w http.ResponseWriter, r *http.Request, got *sent) error {
	theirs, err := s.backend.Definition(r.Context(), got.form.Name)
	if err != nil {
		return err
	}
	mine := got.masked
	check, err := s.backend.CheckTask(r.Context(), []byte(got.text), got.form.Name)
	if err != nil {
		return err
	}
	if check.YAML != "" {
		mine = check.YAML // in the same order as theirs
	}
	p := s.newPage(r)
	p.Here = taskPath(got.form.Name) + "/edit"
	p.Data = conflictData{Theirs: theirs, Lines: sideBySide(theirs.YAML, mine), Mine: got.text, Seen: got.form.Version}
	s.render(w, r, http.StatusPreconditionFailed, "conflict", p)
	return nil
}

// sideBySide pairs the lines of two texts by the longest row of lines that both
// have.
func sideBySide(theirs, mine string) []linePair {
	a, b := strings.Split(strings.TrimRight(theirs, "\n"), "\n"), strings.Split(strings.TrimRight(mine, "\n"), "\n")
	const most = 2000 // lines; a definition has fewer, and the table grows with their square
	if len(a) > most || len(b) > most {
		return []linePair{{Theirs: theirs, Mine: mine}}
	}
	// common[i][j] is the length of the longest common row of a[i:] and b[j:].
	common := make([][]int, len(a)+1)
	for i := range common {
		common[i] = make([]int, len(b)+1)
	}
	for i, left := range slices.Backward(a) {
		for j, right := range slices.Backward(b) {
			if common[i][j] = max(common[i+1][j], common[i][j+1]); left == right {
				common[i][j] = common[i+1][j+1] + 1
			}
		}
	}
	var pairs []linePair
	for i, j := 0, 0; i < len(a) || j < len(b); {
		switch {
		case i < len(a) && j < len(b) && a[i] == b[j]:
			pairs = append(pairs, linePair{a[i], b[j], true})
			i, j = i+1, j+1
		case j >= len(b) || i < len(a) && common[i+1][j] >= common[i][j+1]:
			pairs = append(pairs, linePair{Theirs: a[i]})
			i++
		default:
			pairs = append(pairs, linePair{Mine: b[j]})
			j++
		}
	}
	return pairs
}
