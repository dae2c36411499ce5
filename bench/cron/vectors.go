package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// vector is a question with its right answer.
type vector struct {
	expr, zone string
	after      time.Time
	want       []time.Time   // ends with the zero time if nothing follows
	others     [][]time.Time // right by another rule
	faulty     bool          // the expression must be refused
	never      bool          // no time at all: refusing it is right as well
}

// score counts verdicts.
type score [wrong + 1]int

// scores lets all candidates answer.
func scores(all []candidate, vectors []vector) ([]score, error) {
	out := make([]score, len(all))
	for _, v := range vectors {
		zone, err := time.LoadLocation(v.zone)
		if err != nil {
			return nil, fmt.Errorf("load zone of %q: %w", v.expr, err)
		}
		for i, c := range all {
			out[i][v.judge(c, zone)]++
		}
	}
	return out, nil
}

// answerLimit is how long a library may think about one question. What hangs
// goes on in the background until the program ends.
const answerLimit = 5 * time.Second

func (v vector) judge(c candidate, zone *time.Location) verdict {
	answer := make(chan verdict, 1)
	go func() {
		defer func() {
			if recover() != nil {
				answer <- wrong
			}
		}()
		answer <- v.answer(c, zone)
	}()
	select {
	case result := <-answer:
		return result
	case <-time.After(answerLimit):
		return wrong
	}
}

func (v vector) answer(c candidate, zone *time.Location) verdict {
	f, err := c.compile(parseExpression(v.expr), zone)
	switch {
	case v.faulty && err == nil:
		return wrong
	case v.faulty, v.never && err != nil:
		return right
	case err != nil:
		return refused
	}
	result, _ := judge(f, v.after, v.want, v.others...)
	return result
}

// bugVectors reads vectors.jsonl: what went wrong somewhere.
func bugVectors(dir string) ([]vector, error) {
	var all []vector
	err := eachLine(filepath.Join(dir, "vectors.jsonl"), func(line string) error {
		var v struct {
			Kind, Expr, Zone string
			After            time.Time
			Next             []time.Time
			End              bool
			Alt              map[string][]time.Time
		}
		if err := json.Unmarshal([]byte(line), &v); err != nil {
			return err
		}
		out := vector{
			expr: v.Expr, zone: v.Zone, after: v.After, want: v.Next,
			faulty: v.Kind == "cron-error", never: v.Kind == "cron-never",
		}
		if v.End || out.never {
			out.want = append(out.want, time.Time{})
		}
		for _, other := range v.Alt {
			out.others = append(out.others, other)
		}
		all = append(all, out)
		return nil
	})
	return all, err
}

// quartzVectors reads the firm rows of quartz.tsv: what Quartz answers wherever
// its documentation leaves no choice.
func quartzVectors(dir string) ([]vector, error) {
	var all []vector
	err := eachLine(filepath.Join(dir, "quartz.tsv"), func(line string) error {
		columns := strings.Split(line, "\t")
		if strings.HasPrefix(line, "#") || columns[5] != "firm" {
			return nil
		}
		after, err := time.Parse(time.RFC3339, columns[2])
		if err != nil {
			return err
		}
		v := vector{expr: columns[0], zone: columns[1], after: after}
		for text := range strings.SplitSeq(columns[3], ",") {
			var at time.Time
			if text != "none" {
				if at, err = time.Parse(time.RFC3339, text); err != nil {
					return err
				}
			}
			v.want = append(v.want, at)
		}
		all = append(all, v)
		return nil
	})
	return all, err
}

func eachLine(path string, do func(line string) error) error {
	file, err := os.Open(path)
	if err != nil {
		return fmt.Errorf("read vectors: %w", err)
	}
	defer file.Close()
	lines := bufio.NewScanner(file)
	for n := 1; lines.Scan(); n++ {
		if err := do(lines.Text()); err != nil {
			return fmt.Errorf("read %s:%d: %w", path, n, err)
		}
	}
	return lines.Err()
}
