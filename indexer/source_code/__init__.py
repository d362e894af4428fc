"""Source code to units: functions, classes and statements with their names and lines, whatever the language."""
