/** What editors and assistants write, as they write it: comments, extras and old forms included. */
export const samples: Readonly<Record<string, string>> = {
  "Claude Desktop": `{
  "globalShortcut": "Ctrl+Space",
  "mcpServers": {
    "filesystem": {
      "command": "npx",
      "args": ["-y", "@modelcontextprotocol/server-filesystem", "/home/ada/notes"]
    },
    "sqlite": { "command": "uvx", "args": ["mcp-server-sqlite", "--db-path", "/home/ada/a b.db"], "env": { "LOG": "1" } }
  }
}`,
  "Claude Code": `{
  "mcpServers": {
    "github": {
      "type": "http",
      "url": "\${GITHUB_URL:-https://api.example.com}/mcp/",
      "headers": { "Authorization": "Bearer \${GITHUB_TOKEN}" },
      "timeout": 60000
    },
    "linear": { "type": "sse", "url": "https://mcp.example.org/sse", "oauth": { "clientId": "abc", "callbackPort": 8080 } },
    "local": { "type": "stdio", "command": "\${CLAUDE_BIN:-server}", "args": ["--stdio"], "env": {} }
  }
}`,
  "Claude Code, own file": `{
  "numStartups": 7,
  "mcpServers": { "memory": { "type": "stdio", "command": "npx", "args": ["-y", "memory"], "env": {} } },
  "projects": {
    "/work/app": {
      "allowedTools": [],
      "history": [{ "display": "hello", "pastedContents": {} }],
      "mcpServers": { "github": { "command": "gh-mcp" }, "db": { "command": "db-mcp", "args": ["--read-only"] } },
      "enabledMcpjsonServers": [],
      "hasTrustDialogAccepted": true
    },
    "/work/other": { "mcpServers": { "other": { "command": "other-mcp" } } }
  }
}`,
  Cursor: `{
  "mcpServers": {
    "tools": {
      "type": "stdio",
      "command": "python",
      "args": ["\${workspaceFolder}/tools/mcp_server.py"],
      "env": { "API_KEY": "\${env:API_KEY}" },
      "envFile": "\${userHome}/.env"
    },
    "remote": {
      "url": "https://api.example.com/mcp",
      "auth": { "CLIENT_ID": "\${env:CLIENT_ID}", "CLIENT_SECRET": "\${env:CLIENT_SECRET}", "scopes": ["read", "write"] }
    }
  }
}`,
  "VS Code": `{
  // asked for once
  "inputs": [
    { "type": "promptString", "id": "api-key", "description": "The key", "password": true },
    { "type": "pickString", "id": "region", "description": "Where", "options": ["eu", "us"], "default": "eu" },
    { "type": "command", "id": "branch", "command": "git.branch" },
  ],
  "servers": {
    "perplexity": {
      "type": "stdio",
      "command": "docker",
      "args": ["run", "-i", "--rm", "-e", "KEY", "perplexity"],
      "env": { "KEY": "\${input:api-key}", "REGION": "\${input:region}" },
      "dev": { "watch": "build/**/*.js", "debug": { "type": "node" } },
    },
    "github": { "type": "http", "url": "https://api.example.com/mcp/", "gallery": true, "version": "1.0.0" },
    "sandboxed": { "command": "server", "cwd": "sub", "sandboxEnabled": true },
  },
}`,
  "VS Code, old settings": `{
  "editor.fontSize": 14,
  "mcp": { "inputs": [], "servers": { "time": { "command": "uvx", "args": ["mcp-server-time"] } } }
}`,
  Windsurf: `{
  "mcpServers": {
    "figma": { "serverUrl": "https://mcp.example.com/mcp", "headers": { "API_KEY": "Bearer \${env:AUTH_TOKEN}" }, "disabledTools": ["delete"] },
    "off": { "command": "npx", "args": ["-y", "server"], "env": { "TOKEN": "\${env:MISSING}" }, "disabled": true }
  }
}`,
  "Gemini CLI": `{
  "theme": "Dracula",
  "mcp": { "allowed": ["python"] },
  "mcpServers": {
    "python": {
      "command": "python",
      "args": ["-m", "my_server"],
      "cwd": "./server",
      "env": { "DB": "$DB_URL", "KEY": "\${API_KEY}" },
      "timeout": 600000,
      "trust": true,
      "includeTools": ["safe", "read"],
      "excludeTools": ["read"]
    },
    "streaming": { "httpUrl": "https://api.example.com/mcp", "headers": { "X-Key": "k" }, "description": "Docs" },
    "google": { "url": "https://run.example.com/sse", "authProviderType": "google_credentials" },
    "oauth": { "httpUrl": "https://o.example.com/mcp", "oauth": { "enabled": true, "scopes": ["a"], "redirectUri": "http://localhost:7777/x" } }
  }
}`,
  Zed: `// Zed settings
{
  "ui_font_size": 16,
  "context_servers": {
    "new": { "source": "custom", "enabled": true, "command": "npx", "args": ["-y", "server"], "env": {} },
    "old": { "command": { "path": "/usr/bin/server", "args": ["run"], "env": { "A": "1" } }, "settings": {} },
    "remote": { "source": "custom", "url": "https://api.example.com/mcp", "headers": { "Authorization": "Bearer literal-token" } },
    "extension": { "source": "extension", "enabled": true, "settings": { "token": "TOKEN" } }
  }
}`,
  "Cline and Roo": `{
  "mcpServers": {
    "a": { "command": "node", "args": ["server.js"], "alwaysAllow": ["read"], "disabled": false, "timeout": 60 },
    "b": { "type": "streamableHttp", "url": "https://api.example.com/mcp", "autoApprove": ["x", "*"], "watchPaths": ["a"] }
  }
}`,
  Copilot: `{
  "mcpServers": {
    "a": { "type": "local", "command": "npx", "args": ["server"], "tools": ["*"] },
    "b": { "type": "http", "url": "https://api.example.com/mcp", "tools": ["read", "list"], "headers": {} }
  }
}`,
  Causeway: `{
  "$schema": "https://example.com/causeway.json",
  "mcpServers": {
    "//": "how each field looks",
    "everything": {
      "url": "https://api.example.com/mcp",
      "timeout": 10000,
      "maxRetries": 5,
      "retryDelay": 250.5,
      "concurrency": 8,
      "era": "legacy",
      "tools": { "allow": ["read_*", "write"], "deny": ["read_secret"] },
      "idempotent": ["write"],
      "pins": { "write": "sha256:${"0123456789abcdef".repeat(4)}" },
      "auth": { "type": "bearer", "token": "\${GITHUB_TOKEN}" },
      "_note": "a comment"
    },
    "socket": { "type": "ws", "url": "wss://api.example.com/mcp", "auth": "none" }
  }
}`,
};
