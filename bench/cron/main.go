// Command cron compares pluginapi/cron with other cron libraries for Go: how
// many known questions each answers rightly, and how long each takes to compute
// the next time of common kinds of expressions. It writes Markdown.
//
//	go -C bench/cron run . -rounds 21
package main

import (
	"flag"
	"fmt"
	"io"
	"os"
	_ "time/tzdata" // the answers do not depend on the machine's zones
)

func main() {
	rounds := flag.Int("rounds", 21, "samples of each library and kind of expression")
	vectors := flag.String("vectors", "../../pluginapi/cron/testdata", "folder of the questions with known answers")
	flag.Parse()
	if *rounds < 1 {
		fmt.Fprintln(os.Stderr, "-rounds: expected a positive number")
		os.Exit(2)
	}
	if err := run(os.Stdout, *rounds, *vectors); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(w io.Writer, rounds int, vectors string) error {
	all := candidates()
	writeMachine(w, rounds)
	table := newTimes(all)
	for _, k := range kinds() {
		entries, err := race(k, all, rounds)
		if err != nil {
			return err
		}
		table.add(k, all, entries)
	}
	table.write(w)
	for _, set := range []struct {
		title string
		read  func(dir string) ([]vector, error)
	}{
		{"answers of Quartz 2.3.2 where its documentation leaves no choice", quartzVectors},
		{"expressions that went wrong somewhere", bugVectors},
	} {
		questions, err := set.read(vectors)
		if err != nil {
			return err
		}
		counts, err := scores(all, questions)
		if err != nil {
			return err
		}
		fmt.Fprintf(w, "%d %s:\n\n", len(questions), set.title)
		writeScores(w, all, counts)
	}
	return nil
}
