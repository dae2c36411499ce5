package cli

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"time"
)

// maxQuestion bounds a line of "ax next --stdin".
const maxQuestion = 1 << 20

// nextLines answers the questions of the input, each with a line.
func (p *program) nextLines(ctx context.Context, source *NextSource) error {
	in, out := bufio.NewReaderSize(p.In, 64<<10), bufio.NewWriterSize(p.Out, 64<<10)
	for {
		line, err := readLine(in)
		if err != nil && !errors.Is(err, errTooLong) {
			if errors.Is(err, io.EOF) {
				err = nil
			}
			return errors.Join(err, out.Flush())
		}
		if len(bytes.TrimSpace(line)) > 0 || err != nil {
			if _, err := out.Write(encodeAnswer(source.answerLine(ctx, line, err, p.Now()))); err != nil {
				return fmt.Errorf("write answer: %w", err)
			}
		}
		if in.Buffered() == 0 { // who asks one by one waits for the answer
			if err := out.Flush(); err != nil {
				return fmt.Errorf("write answer: %w", err)
			}
		}
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
	}
}

var errTooLong = fmt.Errorf("the line is longer than %d bytes", maxQuestion)

// readLine returns the next line without its end. Of one that is too long it
// returns the start with errTooLong, and the next call goes on behind it.
func readLine(in *bufio.Reader) ([]byte, error) {
	var line []byte
	tooLong := false
	for {
		part, err := in.ReadSlice('\n')
		if len(line)+len(part) <= maxQuestion {
			line = append(line, part...)
		} else {
			tooLong = true
		}
		switch {
		case errors.Is(err, bufio.ErrBufferFull):
			continue
		case errors.Is(err, io.EOF) && len(line) > 0: // the last line has no end
		case err != nil:
			return nil, err
		}
		if tooLong {
			return line, errTooLong
		}
		return bytes.TrimSuffix(line, []byte("\n")), nil
	}
}

// answer is a line of the output.
type answer struct {
	ID json.RawMessage `json:"id"`
	// previewed holds nothing if there is an Error; its Next is empty for never.
	previewed
	Error string `json:"error,omitempty"`
}

// encodeAnswer returns an answer as a line. A time beyond the year 9999 has no
// form in JSON.
func encodeAnswer(a answer) []byte {
	text, err := json.Marshal(a)
	if err != nil {
		a.previewed, a.Error = previewed{}, "a due time is beyond the year 9999"
		text, _ = json.Marshal(a) // nothing is left in it that could fail
	}
	return append(text, '\n')
}

// answerLine answers a line of the input, whatever it is. fault is what was
// wrong with reading it, if anything.
func (s *NextSource) answerLine(ctx context.Context, line []byte, fault error, now time.Time) (a answer) {
	a.ID = json.RawMessage("null")
	defer func() {
		// One line must not end the rest, also if it finds a fault of ours.
		if caught := recover(); caught != nil {
			a.previewed, a.Error = previewed{}, fmt.Sprintf("internal error: %v", caught)
		}
	}()
	if fault != nil {
		a.Error = fault.Error()
		return a
	}
	q, err := readQuestion(line)
	if len(q.ID) > 0 {
		a.ID = q.ID
	}
	if err == nil {
		a.previewed, err = s.answer(ctx, q, now)
	}
	if err != nil {
		a.previewed, a.Error = previewed{}, err.Error()
	}
	return a
}

// readQuestion reads a line strictly. If it is wrong its id is kept, as far as
// it can be read.
func readQuestion(line []byte) (question, error) {
	var q question
	decoder := json.NewDecoder(bytes.NewReader(line))
	decoder.DisallowUnknownFields()
	err := decoder.Decode(&q)
	if err == nil && decoder.More() {
		err = errors.New("there is more than one JSON value in the line")
	}
	if err != nil {
		var named struct {
			ID json.RawMessage `json:"id"`
		}
		if json.Unmarshal(line, &named) == nil {
			q.ID = named.ID
		}
		return q, fmt.Errorf("expected a JSON object: %w", err)
	}
	return q, nil
}
