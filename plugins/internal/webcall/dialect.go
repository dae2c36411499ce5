package webcall

import (
	"cmp"
	"encoding/json"
	"fmt"

	"github.com/axsched/ax/plugins/internal/notice"
)

// maxQuote is how much of a receiver's words goes into errors, in runes.
const maxQuote = 300

// Dialect is how a kind of receiver answers: by a code in a JSON object, where 0
// means yes.
type Dialect struct {
	Name             string // such as "a robot of WeCom"
	CodeKey, TextKey string
	// Troubles are the codes whose meaning is known. One that is not there may
	// be gone the next time.
	Troubles map[int]Trouble
}

// Judge reads an answer of any status. A code that is not 0 is a [*RefusalError]. A
// good status without a code, as of a page to log in, is no yes either; a bad
// one without a code is left to the caller.
func (d *Dialect) Judge(answer *Answer) error {
	var fields map[string]json.RawMessage
	var code *int
	if json.Unmarshal([]byte(answer.Text), &fields) != nil || json.Unmarshal(fields[d.CodeKey], &code) != nil || code == nil {
		if !answer.Good() {
			return nil
		}
		return cmp.Or(answer.Broken, fmt.Errorf("the answer is not that of %s", d.Name))
	}
	if *code == 0 {
		return nil
	}
	var text string
	_ = json.Unmarshal(fields[d.TextKey], &text) // the code may be all there is
	return &RefusalError{Key: d.CodeKey, Code: *code, Text: notice.OneLine(text, maxQuote), Trouble: d.Troubles[*code]}
}
