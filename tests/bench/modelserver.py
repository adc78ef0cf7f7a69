"""A model server for measurements that answers after a delay and uses little CPU: PORT SECONDS ROUNDS.

Each answer calls `read_code` on another line; after ROUNDS of them, the conversation ends.
"""

import asyncio
import json
import sys

FILES, LINES = 50, 400
USAGE = {"prompt_tokens": 1000, "completion_tokens": 50}


def answer(asked: int, rounds: int) -> bytes:
    """Return the body of the answer to a request that already contains this many answers."""
    message: dict[str, object] = {"role": "assistant", "content": "done"}
    if asked < rounds:
        arguments = {"path": f"f{asked % FILES}.c", "start_line": asked * 10 + 1, "end_line": asked * 10 + 20}
        function = {"name": "read_code", "arguments": json.dumps(arguments)}
        message = {
            "role": "assistant",
            "content": None,
            "tool_calls": [{"id": f"c{asked}", "type": "function", "function": function}],
        }
    choice = {"index": 0, "message": message, "finish_reason": "tool_calls" if asked < rounds else "stop"}
    return json.dumps(
        {"id": "x", "object": "chat.completion", "created": 1, "model": "m", "choices": [choice], "usage": USAGE}
    ).encode()


async def serve(port: int, seconds: float, rounds: int) -> None:
    """Serve until killed."""
    bodies = [answer(asked, rounds) for asked in range(rounds + 1)]

    async def speak(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while True:
                head = (await reader.readuntil(b"\r\n\r\n")).lower()
                length = int(head.split(b"content-length:")[1].split(b"\r\n")[0])
                asked = (await reader.readexactly(length)).count(b'"assistant"')
                await asyncio.sleep(seconds)
                body = bodies[min(asked, rounds)]
                writer.write(
                    b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: %d\r\n\r\n" % len(body)
                    + body
                )
        except (asyncio.IncompleteReadError, ConnectionError):
            writer.close()

    server = await asyncio.start_server(speak, "127.0.0.1", port, backlog=4096, limit=1 << 22)
    await server.serve_forever()


if __name__ == "__main__":
    asyncio.run(serve(int(sys.argv[1]), float(sys.argv[2]), int(sys.argv[3])))
