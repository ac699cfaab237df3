import Foundation
import Synchronization

/// A file with one statement for each index, whose plan uses the index.
///
/// With `COUNTERSIGN_RECORD_SNAPSHOTS=1`, tests add the statements that they run to the file. An
/// index whose statement left the program keeps its line. To find such indexes, delete the file, then
/// record all tests, as CONTRIBUTING says.
enum IndexUses {
  static let isRecording =
    ProcessInfo.processInfo.environment["COUNTERSIGN_RECORD_SNAPSHOTS"] == "1"

  private static let file = URL(filePath: #filePath).deletingLastPathComponent()
    .appending(path: "__Snapshots__/indexes.tsv")
  private static let seen = Mutex<[String: String]>([:])

  /// Returns the recorded statement of each index.
  static func kept() -> [String: String] {
    let text = (try? String(contentsOf: file, encoding: .utf8)) ?? ""
    return Dictionary(
      text.split(separator: "\n").compactMap { line in
        let parts = line.split(separator: "\t", maxSplits: 1).map(String.init)
        return parts.count == 2 ? (parts[0], parts[1]) : nil
      }, uniquingKeysWith: { first, _ in first })
  }

  /// Records a statement for each index in its plan for which it's the shortest one.
  static func record(_ statement: String, plan: [String]) throws {
    // Tests' own statements rarely use the order of an index.
    guard isRecording, !plan.contains(where: { $0.contains("TEMP B-TREE") }) else { return }
    let statement = statement.split(whereSeparator: \.isWhitespace).joined(separator: " ")
    try seen.withLock { seen in
      var isNew = false
      for index in plan.compactMap(index) {
        if let other = seen[index], !isShorter(statement, than: other) { continue }
        seen[index] = statement
        isNew = true
      }
      guard isNew else { return }
      let all = kept().merging(seen) { _, new in new }
      let lines = all.sorted { $0.key < $1.key }.map { "\($0.key)\t\($0.value)\n" }
      try lines.joined().write(to: file, atomically: true, encoding: .utf8)
    }
  }

  private static func isShorter(_ one: String, than other: String) -> Bool {
    (one.utf8.count, one) < (other.utf8.count, other)
  }

  /// Returns the index named in a line of a plan.
  static func index(in line: String) -> String? {
    line.firstMatch(of: /USING (?:COVERING )?INDEX (\w+)/).map { String($0.1) }.flatMap { name in
      name.hasPrefix("sqlite_autoindex_") ? nil : name
    }
  }
}
