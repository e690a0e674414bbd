// Prints what is no message, between messages; then gives back what it is given.
import process from "node:process";

process.stdout.write('Server starting…\n\n{"first":1}\r\n  [debug] no JSON, but it may look so\nlistening\n');
process.stdin.pipe(process.stdout);
