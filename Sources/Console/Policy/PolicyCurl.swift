import HTTP
import Identity

enum PolicyCurl {
  private static let project = Path("v2", "projects", nil, "config", parameters: String.self)
  private static let tenant = Path(
    "v2", "projects", nil, "tenants", nil, parameters: String.self, String.self)

  static func text(
    _ pool: Pool, _ configuration: MFAConfiguration, over old: MFAConfiguration,
    publicURL: PublicURL
  ) -> String {
    let (path, member) =
      pool.tenant.map { (tenant(pool.project.text, $0.text), "mfaConfig") }
      ?? (project(pool.project.text), "mfa")
    // The path is percent-encoded, so an ID can't end the quotes.
    return """
      curl -X PATCH \\
        "\(publicURL.origin)\(path)?updateMask=\(member)" \\
        -H "Authorization: Bearer $TOKEN" \\
        -H "Content-Type: application/json" \\
        -d '{"\(member)": \(body(configuration.written(over: old)))}'
      """
  }

  private static func body(_ configuration: MFAConfiguration) -> String {
    var members: [String] = []
    if let state = configuration.state { members.append("\"state\": \"\(state.wireWord)\"") }
    if configuration.smsEnabled { members.append("\"enabledProviders\": [\"PHONE_SMS\"]") }
    if let totp = configuration.totp {
      let state =
        totp.state == .unspecified ? "" : "\"state\": \"\(totp.state.wireWord)\",\n      "
      let intervals = totp.adjacentIntervals.map { "\"adjacentIntervals\": \($0)" } ?? ""
      members.append(
        "\"providerConfigs\": [{\n      \(state)\"totpProviderConfig\": {\(intervals)}\n    }]")
    }
    guard !members.isEmpty else { return "{}" }
    return "{\n    " + members.joined(separator: ",\n    ") + "\n  }"
  }
}

extension MFAState {
  fileprivate var wireWord: String {
    switch self {
    case .unspecified: "STATE_UNSPECIFIED"
    case .disabled: "DISABLED"
    case .enabled: "ENABLED"
    case .mandatory: "MANDATORY"
    }
  }
}
