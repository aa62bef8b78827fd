"""Messages to prompt ids, and raw output to reasoning, content and tool calls. No HTTP in here."""
