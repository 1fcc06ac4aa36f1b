"""Published rules, trees and lists of rules."""
