package api

import (
	"cmp"
	"slices"
)

// Paging is the part of an input that asks for a page of a list that the host has
// in memory; see Named.
type Paging struct {
	After string `query:"after" maxLength:"600" doc:"Value of next of the page before"`
	Limit int    `query:"limit" minimum:"1" maximum:"1000" default:"1000"`
}

// paged returns a page of a list in the order of its keys, and the cursor of the
// next one, empty on the last.
func paged[T any](list []T, p Paging, key func(T) string) (rows []T, next string) {
	list = slices.Clone(list)
	slices.SortStableFunc(list, func(a, b T) int { return cmp.Compare(key(a), key(b)) })
	begin := 0
	if p.After != "" {
		var found bool
		begin, found = slices.BinarySearchFunc(list, p.After, func(item T, after string) int { return cmp.Compare(key(item), after) })
		for found && begin < len(list) && key(list[begin]) == p.After {
			begin++
		}
	}
	rows = orEmpty(list[begin:])
	if p.Limit > 0 && len(rows) > p.Limit {
		rows = rows[:p.Limit]
		next = key(rows[p.Limit-1])
	}
	return rows, next
}

// orEmpty is a list that is written as [] where there is nothing.
func orEmpty[T any](list []T) []T {
	if list == nil {
		return []T{}
	}
	return list
}
