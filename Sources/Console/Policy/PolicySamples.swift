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

/// The Admin SDK call that writes a policy, in JavaScript for Node.js.
///
/// The SDK writes only the members that a call has, so the sample has all of them; an empty list
/// removes the entry of TOTP. The SDK rejects `MANDATORY` and an entry without a state before it
/// sends a request, so for these a comment in the sample says what it writes instead.
enum PolicyNode {
  static func text(
    _ pool: Pool, _ configuration: MFAConfiguration, over old: MFAConfiguration
  ) -> String {
    let value = "{\n  multiFactorConfig: \(members(configuration.written(over: old))),\n}"
    guard let tenant = pool.tenant else {
      return """
        import { getAuth } from "firebase-admin/auth";

        await getAuth().projectConfigManager().updateProjectConfig(\(value));
        """
    }
    return """
      import { getAuth } from "firebase-admin/auth";

      await getAuth().tenantManager().updateTenant(\(quoted(tenant.text)), \(value));
      """
  }

  private static func members(_ configuration: MFAConfiguration) -> String {
    var members: [String] = []
    switch configuration.state {
    case .enabled: members.append("state: \"ENABLED\",")
    case .mandatory: members.append("state: \"ENABLED\", // the SDK has no MANDATORY")
    case .disabled, .unspecified, nil: members.append("state: \"DISABLED\",")
    }
    members.append(configuration.smsEnabled ? "factorIds: [\"phone\"]," : "factorIds: [],")
    if let totp = configuration.totp {
      let intervals = totp.adjacentIntervals.map { " adjacentIntervals: \($0) " } ?? ""
      members.append(
        """
        providerConfigs: [{
              state: \(state(totp.state))
              totpProviderConfig: {\(intervals)},
            }],
        """)
    } else {
      members.append("providerConfigs: [],")
    }
    return "{\n    " + members.joined(separator: "\n    ") + "\n  }"
  }

  private static func state(_ state: MFAState) -> String {
    switch state {
    case .enabled: "\"ENABLED\","
    case .disabled: "\"DISABLED\","
    case .mandatory: "\"ENABLED\", // the SDK has no MANDATORY"
    case .unspecified: "\"ENABLED\", // the SDK requires a state"
    }
  }

  private static func quoted(_ text: String) -> String {
    var quoted = "\""
    for scalar in text.unicodeScalars {
      switch scalar {
      case "\"", "\\": quoted += "\\\(scalar)"
      case "\u{20}"..."\u{7E}": quoted.unicodeScalars.append(scalar)
      default: quoted += "\\u{\(String(scalar.value, radix: 16))}"
      }
    }
    return quoted + "\""
  }
}
