import Foundation
import Testing

/// Each action is a route: its path says what to do, not a field or the name of a button.
struct FormTests {
  @Test func `no page checks which button was pressed`() throws {
    let found = try SourceTree.files(in: "Sources/Console").flatMap(choices)
    #expect(found == [])
  }

  @Test func `a button's name identifies an object, never an action`() throws {
    let folder = SourceTree.root.appending(path: "Templates")
    let templates = try FileManager.default.subpathsOfDirectory(atPath: folder.path).sorted()
      .filter { $0.hasSuffix(".mustache") }
    var found: [String] = []
    for template in templates {
      let text = try String(contentsOf: folder.appending(path: template), encoding: .utf8)
      found += namedButtons(text).map { "\(template): \($0)" }
    }
    // Identify the session to end, and the user to send a link.
    #expect(
      found == [
        "account/account.mustache: session", "administrators/sessions.mustache: session",
        "campaigns/campaign.mustache: user",
      ])
  }

  @Test func `each violation is found`() {
    let file = SourceFile(path: "A.swift", text: "switch form[\"step\"] {\nform[\"csrf\"]")
    #expect(choices(file).count == 1)
    #expect(namedButtons("<button class=\"a\" name=\"step\" value=\"b\">") == ["step"])
    #expect(namedButtons("<button formaction=\"/a\"><input name=\"b\">") == [])
  }

  private func choices(_ file: SourceFile) -> [String] {
    let choice = /orm\["(step|action|do|verb|button)"\]/
    return file.lines.enumerated().compactMap { line, text in
      text.contains(choice)
        ? file.breach(line, "an action is a route") : nil
    }
  }

  private func namedButtons(_ text: String) -> [String] {
    text.matches(of: /<button[^>]* name="([^"]*)"/).map { String($0.1) }
  }
}
