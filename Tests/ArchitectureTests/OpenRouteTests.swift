import Testing

/// The console's pages that need no session, as they're written in the table of routes.
///
/// All other pages are private. `/healthz` and the static files are served before the console
/// handles a request.
private let open: Set = [
  "get setup", "post setup",
  "get signIn", "post signIn",
  "get signInCode", "post signInCode",
  "get signInPasskey", "post signInPasskey",
  "get signInCodePasskey", "post signInCodePasskey",
  "get providerSignIn", "get providerCallback",
  "get invitation", "post invitation",
  "get actionLink", "post actionLink", "get appLink",
  "get guides", "get guide", "get guideBuild", "get guideOperate",
  "get linkedEnrollment", "post linkedEnrollment",
  "get reportedChange", "post reportedChange",
]

struct OpenRouteTests {
  @Test func `only the listed pages need no session`() throws {
    let found = try SourceTree.files(in: "Sources/Console").flatMap(openRoutes)
    #expect(found.sorted() == open.sorted())
  }

  @Test func `an open page is found`() {
    let file = SourceFile(
      path: "Sources/Console/A.swift",
      text: "table.open(.get, ConsolePaths.users, users.show)\ntable.signedIn(.get, ConsolePaths.a)"
    )
    #expect(openRoutes(file) == ["get users"])
  }

  private func openRoutes(_ file: SourceFile) -> [String] {
    let code = file.lines.joined(separator: " ")
    guard code.contains(".open(") else { return [] }
    return code.matches(of: /\.open\(\s*\.(\w+),\s*([\w.]+)/).map { match in
      let path = match.2.split(separator: ".").last ?? match.2
      return "\(match.1) \(path)"
    }
  }
}
