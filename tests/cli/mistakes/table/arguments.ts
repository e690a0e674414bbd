/** Mistakes in the arguments of a call. */
import type { Mistake } from "../mistake.ts";

export const arguments_: readonly Mistake[] = [
  {
    number: 19,
    title: "no tool",
    typed: 'causeway call "$PEER"',
    code: 2,
    says: "The tool is missing: write causeway call <target> <tool> [key=value …]",
  },
  {
    number: 20,
    title: "a tool with a typo",
    typed: 'causeway call "$PEER" ecko text=a',
    code: 2,
    says: 'Unknown tool "ecko" at "…" (did you mean "echo"?): causeway tools lists what it has',
  },
  {
    number: 21,
    title: "nothing where something is needed",
    typed: 'causeway call "$PEER" echo',
    code: 2,
    says: 'The arguments of "echo" do not fit: "text" is missing; causeway tools shows what it takes',
  },
  {
    number: 22,
    title: "an argument with a typo",
    typed: 'causeway call "$PEER" echo txt=a',
    code: 2,
    says:
      'The arguments of "echo" do not fit: "text" is missing; there is no "txt" (did you mean "text"?); causeway tools shows what it takes',
  },
  {
    number: 23,
    title: "a word for a number",
    typed: 'causeway call "$PEER" add a=1 b=two',
    code: 2,
    says:
      'The arguments of "add" do not fit: "b" must be of the type number, and is "two"; causeway tools shows what it takes',
  },
  {
    number: 24,
    title: "a comma in a number",
    typed: 'causeway call "$PEER" add a=1,5 b=2',
    code: 2,
    says:
      'The arguments of "add" do not fit: "a" must be of the type number, and is "1,5"; causeway tools shows what it takes',
  },
  {
    number: 25,
    title: "a fraction where a whole number is needed",
    typed: 'causeway call "$PEER" big bytes=1.5',
    code: 2,
    says:
      'The arguments of "big" do not fit: "bytes" must be of the type integer, and is 1.5; causeway tools shows what it takes',
  },
  {
    number: 26,
    title: "two values for one",
    typed: 'causeway call "$PEER" echo text=a text=b',
    code: 2,
    says: 'The argument "text" is given twice: give it once, or write a list as text:=[…]',
  },
  {
    number: 27,
    title: "spaces around the equals sign",
    typed: 'causeway call "$PEER" echo text = hello',
    code: 2,
    says: 'Cannot read the argument "text = hello": write text=hello, without spaces around the "="',
  },
  {
    number: 28,
    title: "a space behind the equals sign",
    typed: 'causeway call "$PEER" echo text= hello',
    code: 2,
    says: 'Cannot read the argument "text= hello": write text=hello, without spaces around the "="',
  },
  {
    number: 29,
    title: "a value without its name",
    typed: 'causeway call "$PEER" echo hello',
    code: 2,
    says:
      'Cannot read the argument "hello": write key=value, key:=json, @file.json, a JSON object, or - for the standard input',
  },
  {
    number: 30,
    title: "a text where JSON was said",
    typed: 'causeway call "$PEER" echo text:=hello',
    code: 2,
    says:
      'Cannot read the value of "text": it is not JSON (1:1: found "h": expected a text in double quotes, a number, true, false, null, "{" or "["); write text=… for a text',
  },
  {
    number: 31,
    title: "JSON in quotes that this shell hands on",
    typed: 'causeway call "$PEER" echo --args "\'{\\"text\\":\\"a\\"}\'"',
    code: 2,
    says:
      'Cannot read --args: it is not JSON (1:1: found "\'": …); this shell hands such quotes on: write "{\\"key\\":1}", or @file.json',
  },
  {
    number: 32,
    title: "JSON whose quotes the shell ate",
    typed: 'causeway call "$PEER" echo --args {"text":1}',
    code: 2,
    says:
      'Cannot read --args: it is not JSON (1:2: found "t": expected a name in double quotes, or "}"); put it into single quotes, as in \'{"key": 1}\', or write @file.json',
  },
  {
    number: 33,
    title: "JSON with a comma too many",
    typed: 'causeway call "$PEER" echo \'{"text":"a",}\'',
    code: 2,
    says:
      "Cannot read the argument: it is not JSON (comments, and commas before a closing bracket, are for configs alone); correct it",
  },
  {
    number: 34,
    title: "a list for the arguments",
    typed: 'causeway call "$PEER" echo --args \'["a"]\'',
    code: 2,
    says: 'Cannot use --args as arguments: expected a JSON object such as {"key": 1}',
  },
  {
    number: 35,
    title: "a file that is not there",
    typed: 'causeway call "$PEER" echo @arguments.json',
    code: 2,
    says: 'Cannot read the file "arguments.json": there is no such file; correct the path',
  },
  {
    number: 36,
    title: "a file that is no JSON",
    typed: 'causeway call "$PEER" echo @notes.txt',
    code: 2,
    says: 'Cannot read the file "notes.txt": it is not JSON (2:1: found "b": expected "," or "}"); correct it',
    files: { "notes.txt": '{"text": "a"\nbut why' },
  },
  {
    number: 37,
    title: "a folder for a file",
    typed: 'causeway call "$PEER" echo @here',
    code: 2,
    says: 'Cannot read the file "here": it is a folder',
    files: { "here/": "" },
  },
  {
    number: 38,
    title: "a file that is too large",
    typed: 'head -c 17000000 /dev/zero > big.json; causeway call "$PEER" echo @big.json',
    code: 2,
    says: 'Cannot read the file "big.json": it is longer than 16 MiB',
  },
  {
    number: 39,
    title: "an input that is too large",
    typed: 'head -c 17000000 /dev/zero | causeway call "$PEER" echo -',
    code: 2,
    says: "Cannot read the standard input: it is longer than 16 MiB",
  },
  {
    number: 40,
    title: "the standard input, with nothing in it",
    typed: 'causeway call "$PEER" echo -',
    code: 2,
    says: 'Cannot read the standard input: there is nothing in it; expected JSON such as {"key": 1}',
  },
  {
    number: 41,
    title: "the standard input, which is closed",
    typed: 'causeway call "$PEER" echo - <&-',
    code: 2,
    says: "Cannot read the standard input: …",
  },
  {
    number: 42,
    title: "a call in a form of its own",
    typed: 'causeway call "$PEER" \'echo(text="a")\'',
    code: 2,
    says: 'Cannot read the call "echo(text=\\"a\\")": write it like tool(key: 1, other: "text"), with JSON values',
  },
  {
    number: 43,
    title: "a tool that ran, and failed",
    typed: "causeway call \"$PEER\" fail message='out of paper'",
    code: 1,
    says: 'the tool "fail" failed: its result says why',
    out: "out of paper\n",
  },
  {
    number: 44,
    title: "a tool whose server broke",
    typed: 'causeway call "$PEER" crash',
    code: 5,
    says: '"…" refused tools/call (-32603): the server broke',
  },
  {
    number: 45,
    title: "a tool that asks where nobody sits at a terminal",
    typed: 'causeway call "$PEER" ask',
    code: 1,
    says: 'the tool "ask" failed: its result says why',
    out: "the user said decline\n",
  },
];
