import Foundation
import Testing

@testable import TestIdentity

/// PostgreSQL's own programs, which run scripts in a new database.
enum PostgreSQL {
  private static let programs = "/usr/lib/postgresql/15/bin"

  static var isInstalled: Bool {
    ["initdb", "pg_ctl", "psql"].allSatisfy {
      FileManager.default.isExecutableFile(atPath: "\(programs)/\($0)")
    }
  }

  /// Runs scripts in one transaction of a new database, and returns the lines that they print.
  static func run(_ scripts: [String]) async throws -> [String] {
    try await withFolder { folder in
      var arguments = ""
      for (number, script) in scripts.enumerated() {
        let file = "\(folder)/\(number).sql"
        try script.write(toFile: file, atomically: true, encoding: .utf8)
        arguments += " -f \(number).sql"
      }
      let (process, output) = (Process(), Pipe())
      process.executableURL = URL(filePath: "/bin/sh")
      process.arguments = ["-c", command(arguments)]
      process.currentDirectoryURL = URL(filePath: folder)
      process.standardInput = FileHandle.nullDevice
      process.standardOutput = output
      try process.run()
      let data = try output.fileHandleForReading.readToEnd() ?? Data()
      process.waitUntilExit()
      try #require(process.terminationStatus == 0)
      return String(decoding: data, as: UTF8.self).split(separator: "\n").map(String.init)
    }
  }

  /// The server refuses to run as root, and its programs need a folder of their user.
  private static func command(_ arguments: String) -> String {
    """
    set -eu
    user=
    if [ "$(id -u)" = 0 ]; then
      chown postgres . && chmod 755 .
      user="setpriv --reuid=postgres --regid=postgres --init-groups"
    fi
    $user \(programs)/initdb -D data -U postgres -A trust -E UTF8 --lc-collate=C \
      --lc-ctype=C.UTF-8 -N >log
    $user \(programs)/pg_ctl -D data -l server.log -w \
      -o "-k $PWD -c listen_addresses= -c fsync=off" start >>log
    status=0
    \(programs)/psql -h "$PWD" -U postgres -X -q -1 -v ON_ERROR_STOP=1\(arguments) 2>&1 || status=$?
    $user \(programs)/pg_ctl -D data -m immediate stop >>log
    exit $status
    """
  }
}
