import HTTP
import Identity
import JSON
import OTP

extension Methods {
  static let getEnrollmentPolicy = Declaration(
    "getEnrollmentPolicy",
    "Returns whether users have to enroll a second factor, and by when the user of an ID token does.",
    gives: [
      "pattern": .choice("MANDATORY", "SKIPPABLE", "ACCOUNT", "STEP_UP"),
      "mandatoryFrom": .text, "totpEnabled": .flag.required, "adjacentIntervals": .integer,
      "enforcement": .choice("OFF", "CLAIM", "REFUSE").required, "enforcedFrom": .text,
      "graceDays": .integer,
      "user": ["enrolled": .flag.required, "due": .flag.required, "dueAt": .timestamp],
    ])
}

/// Routes for what applications need to know about enrollment, which aren't part of Google's API.
extension Routes {
  mutating func addEnrollmentPolicy() {
    let project = Path("v2", "projects", nil, "enrollmentPolicy", parameters: String.self)
    add(
      project.route(.get) { [authorizer, methods] request, project in
        await authorizer.client(
          request, .v2, project: project, tenant: nil, methods.getEnrollmentPolicy)
      }, Methods.getEnrollmentPolicy, .client, .v2, below: "projects.")
    let tenant = Path(
      "v2", "projects", nil, "tenants", nil, "enrollmentPolicy", parameters: String.self,
      String.self)
    add(
      tenant.route(.get) { [authorizer, methods] request, project, tenant in
        await authorizer.client(
          request, .v2, project: project, tenant: tenant, methods.getEnrollmentPolicy)
      }, Methods.getEnrollmentPolicy, .client, .v2, below: "projects.tenants.")
  }
}

extension Methods {
  /// `GET enrollmentPolicy`: returns the policy, and the duty of the user whose ID token is the
  /// bearer token.
  func getEnrollmentPolicy(_ call: ClientCall) async throws -> JSON {
    let pool = try await pool(of: call)
    var answer = Self.enrollmentPolicy(
      try await settings(pool).policy, carriesMail: identity.messages.carriesMail)
    if let token = try call.bearerToken {
      let session = try await tokens.session(token, in: pool)
      let duty = try await identity.policies.enrollmentDuty(of: session)
      var user: JSON.Object = [
        "enrolled": .bool(duty == .enrolled), "due": .bool(duty.isDue),
      ]
      if let dueAt = duty.dueAt { user.append("dueAt", .string(dueAt.rfc3339)) }
      answer.append("user", .object(user))
    }
    return .object(answer)
  }

  private static func enrollmentPolicy(
    _ policy: StoredPolicy, carriesMail: Bool
  ) -> JSON.Object {
    var answer: JSON.Object = [:]
    let (configuration, edit) = (policy.configuration, policy.edit)
    if let pattern = policy.pattern { answer.append("pattern", .string(pattern.wireName)) }
    if let day = policy.mandatoryFrom { answer.append("mandatoryFrom", .string(day.description)) }
    answer.append("totpEnabled", .bool(configuration.isTOTPOn))
    if configuration.isTOTPOn {
      let intervals = configuration.window.adjacentIntervals
      answer.append("adjacentIntervals", .number(JSON.Number(intervals)))
    }
    guard let enforcement = edit.effectiveEnforcement?.applied(carriesMail: carriesMail) else {
      answer.append("enforcement", "OFF")
      return answer
    }
    answer.append("enforcement", .string(enforcement.mode.wireName))
    answer.append("enforcedFrom", .string(enforcement.from.description))
    answer.append("graceDays", .number(JSON.Number(enforcement.graceDays)))
    return answer
  }
}

extension ClientCall {
  /// The ID token in the `Authorization` field; nil if there is none.
  fileprivate var bearerToken: String? {
    get throws(WireError) {
      guard request.fields[.authorization] != nil else { return nil }
      guard let token = request.bearerToken else { throw .invalidIDToken }
      return token
    }
  }
}

extension EnrollmentPattern {
  fileprivate var wireName: String {
    switch self {
    case .mandatory: "MANDATORY"
    case .skippable: "SKIPPABLE"
    case .account: "ACCOUNT"
    case .stepUp: "STEP_UP"
    }
  }
}

extension Enforcement.Mode {
  fileprivate var wireName: String {
    switch self {
    case .claim: "CLAIM"
    case .refuse: "REFUSE"
    }
  }
}
