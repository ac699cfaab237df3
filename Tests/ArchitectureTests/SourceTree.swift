import Foundation

/// One text file of the checkout.
struct SourceFile: Sendable, CustomStringConvertible {
  /// Its path from the checkout's root, such as `Sources/OTP/Window.swift`.
  let path: String
  let text: String
  let lines: [Substring]

  init(path: String, text: String) {
    self.path = path
    self.text = text
    lines = text.split(separator: "\n", omittingEmptySubsequences: false)
  }

  var description: String { path }

  /// The module's folder in `Sources`; nil outside of it.
  var module: String? {
    let parts = path.split(separator: "/")
    guard parts.count > 2, parts[0] == "Sources" else { return nil }
    return String(parts[1])
  }

  /// The lines whose code contains a word, without comments and string contents.
  func code(with word: String) -> [(line: Int, code: String)] {
    guard text.contains(word) else { return [] }
    return lines.enumerated().compactMap { line, text in
      guard text.contains(word) else { return nil }
      let code = Self.code(of: text)
      return code.contains(word) ? (line, code) : nil
    }
  }

  private static func code(of line: Substring) -> String {
    var code = ""
    var isQuoted = false
    var previous: Character = " "
    for character in line {
      if character == "\"" && previous != "\\" { isQuoted.toggle() }
      if character == "/" && previous == "/" && !isQuoted {
        code.removeLast()
        break
      }
      if !isQuoted { code.append(character) }
      previous = character
    }
    return code
  }

  /// Violations at the lines that contain any of the words.
  func breaches(of words: [String], _ what: String) -> [String] {
    guard words.contains(where: text.contains) else { return [] }
    return lines.enumerated().compactMap { line, text in
      words.contains { text.contains($0) } ? breach(line, what) : nil
    }
  }

  /// A violation at a line, as `path:line: what`.
  func breach(_ line: Int, _ what: String) -> String { "\(path):\(line + 1): \(what)" }
}

extension StringProtocol {
  /// Whether the bytes of a word are in the text, which has no zero byte.
  ///
  /// The standard library compares characters, for which these tests took five times as long.
  func contains(_ word: String) -> Bool { unsafe strstr(String(self), word) != nil }
}

/// The checkout that this test was built from.
enum SourceTree {
  static let root = URL(filePath: #filePath)
    .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()

  /// Every Swift file in the folders.
  static func files(in folders: String...) throws -> [SourceFile] {
    try folders.flatMap { folder in
      try FileManager.default.subpathsOfDirectory(atPath: root.appending(path: folder).path)
        .sorted().filter { $0.hasSuffix(".swift") }.map { try file("\(folder)/\($0)") }
    }
  }

  /// Every text file in the checkout, except for generated files and the license.
  static func texts() throws -> [SourceFile] {
    try paths().filter { $0 != "LICENSE" }.compactMap { try? file($0) }
  }

  /// The files in the checkout that aren't text, except for generated ones.
  static func binaries() throws -> [String] {
    try paths().filter { (try? file($0)) == nil }
  }

  private static func paths() throws -> [String] {
    let excluded: Set = [
      ".git", ".venv", "data", "bench-results", "screenshots", "__pycache__", "__Snapshots__",
    ]
    func files(below folder: URL) throws -> [URL] {
      try FileManager.default.contentsOfDirectory(at: folder, includingPropertiesForKeys: nil)
        .filter { !excluded.contains($0.lastPathComponent) }
        .filter { !$0.lastPathComponent.hasPrefix(".build") }
        .flatMap { $0.hasDirectoryPath ? try files(below: $0) : [$0] }
    }
    let length = root.path.count + 1
    return try files(below: root).map { String($0.path.dropFirst(length)) }
  }

  static func file(_ path: String) throws -> SourceFile {
    SourceFile(
      path: path, text: try String(contentsOf: root.appending(path: path), encoding: .utf8))
  }
}
