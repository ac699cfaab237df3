import Testing

/// Every text and sample that verifies an ID token checks all of it: signature, issuer, audience,
/// expiry, and the claim `firebase.tenant`, which alone tells the pools of a project apart.
struct TokenVerificationTests {
  /// How many texts and samples of each file verify a token.
  private static let places = [
    "docs/connect.md": 2,
    "Templates/overview/connect.mustache": 3,
    "Templates/guides/en/common-build.md": 1,
    "Templates/guides/en/mandatory-build.md": 1,
    "Templates/guides/en/mandatory-concept.md": 1,
    "Templates/guides/en/step-up-build.md": 1,
    "Templates/guides/en/step-up-concept.md": 1,
  ]

  /// What names a token's keys, verification, or second factor without telling a backend to check it.
  private static let exempt: [(path: String, text: String, why: String)] = [
    ("docs/api.md", "| `GET ", "a row of the list of calls"),
    ("docs/enforcement.md", "`verify_id_token` of `firebase-rest-api`", "refers to the section"),
    (
      "Sources/Console/Settings/SignInSwitchPage.swift", "verifies ID tokens itself can accept",
      "a consequence"
    ),
    (
      "Templates/guides/en/mandatory-concept.md", "5. `mfaEnrollment:finalize`",
      "what a response has"
    ),
    (
      "Templates/guides/en/mandatory-build.md", "import { onIdTokenChanged }",
      "chooses a page, in a client"
    ),
    ("Sources/Console/Overview/OverviewPage.swift", "keyList", "the values of the samples"),
  ]

  private static let parts: [(name: String, words: [String])] = [
    ("signature", ["signature", "RS256", "NewRemoteKeySet"]), ("issuer", ["issuer"]),
    ("audience", ["audience", "ClientID"]), ("expiry", ["expiry", "\"exp\"", "oidc.NewVerifier"]),
    ("tenant", ["tenant", "Tenant"]),
  ]

  @Test func `every place that verifies a token checks all of it`() throws {
    var found: [String: Int] = [:]
    for file in try SourceTree.texts() where Self.isText(file.path) {
      for block in Self.blocks(of: file) where Self.verifies(block) {
        let isExempt = Self.exempt.contains {
          file.path == $0.path && block.contains($0.text)
        }
        if isExempt { continue }
        found[file.path, default: 0] += 1
        #expect(Self.missing(in: block) == [], "\(file.path): \(block)")
      }
    }
    #expect(found == Self.places)
  }

  @Test func `a check without the tenant is found`() throws {
    let text = "* **Verify ID tokens** (RS256) with the issuer, the audience, and the expiry.\n"
    let file = SourceFile(path: "docs/a.md", text: "# Tokens\n\n" + text + "\n* Another item.\n")
    let block = try #require(Self.blocks(of: file).first(where: Self.verifies))
    #expect(Self.missing(in: block) == ["tenant"])
  }

  private static func isText(_ path: String) -> Bool {
    guard !path.hasPrefix("Tests/"), path != "CHANGELOG.md" else { return false }
    return path.hasPrefix("Sources/Console/")
      || ["md", "mustache"].contains { path.hasSuffix(".\($0)") }
  }

  private static func verifies(_ block: String) -> Bool {
    block.contains(
      /securetoken@|keyList|[sS]essionCookiePublicKeys|\/publicKeys|sign_in_second_factor/)
      || block.contains(/verify_?[iI]d_?[tT]oken|jwtVerify|jwt\.decode|verified token/)
      || block.contains(/[Vv]erif(?:y|ies|ied|ying) (?:[a-z]+ ){0,2}ID token/)
  }

  /// The parts of a token that a block leaves out.
  private static func missing(in block: String) -> [String] {
    parts.filter { part in !part.words.contains(where: block.contains) }.map(\.name)
  }

  /// The paragraphs, list items, table rows, and samples of a file; the panes of a template; and
  /// other files as a whole.
  private static func blocks(of file: SourceFile) -> [String] {
    var blocks: [String] = [""]
    var isCode = false
    for line in file.lines {
      if line.hasPrefix("```") { isCode.toggle() }
      let begins =
        switch file.path.split(separator: ".").last {
        case "md": !isCode && (line.isEmpty || line.contains(/^(?:\* |\d+\. |\| |#)/))
        case "mustache": line.contains("<section")
        default: false
        }
      if begins { blocks.append("") }
      blocks[blocks.count - 1] += line + "\n"
    }
    return blocks
  }
}
