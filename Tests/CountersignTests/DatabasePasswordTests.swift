import Foundation
import Testing

@testable import countersign

@Suite struct DatabasePasswordTests {
  private func file(_ words: [String], _ environment: [String: String]) throws -> String? {
    let options = [DatabaseLocation.url, DatabaseLocation.passwordFile]
    return DatabaseLocation.passwordFile(
      try Arguments(words, options: options), environment: environment)
  }

  @Test func `the option takes precedence over the credential of the unit`() throws {
    let path = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString).path
    try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(atPath: path) }
    let environment = ["CREDENTIALS_DIRECTORY": path]
    #expect(try file([], environment) == nil)
    try "secret\n".write(
      toFile: "\(path)/database-password", atomically: false, encoding: .utf8)
    #expect(try file([], environment) == "\(path)/database-password")
    #expect(try file(["--database-password-file", "mine"], environment) == "mine")
    #expect(try file([], [:]) == nil)
  }
}
