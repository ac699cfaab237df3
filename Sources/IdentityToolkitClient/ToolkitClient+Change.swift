import JSON
import Text

/// A change of a project's or a tenant's second factors, with absolute values.
package enum RemotePolicyChange: Sendable, Equatable {
  /// Both switches on, with 0–10 intervals.
  case totpOn(adjacentIntervals: Int)
  case totpOff
  case sms(Bool)
}

/// A change of a user; what's nil stays as it is.
package struct RemoteUserChange: Sendable {
  /// The factors that are kept, as they were read.
  package var factors: [RemoteFactor]?
  package var isDisabled: Bool?
  /// Sessions that began before this time end, in seconds since 1970.
  package var validSince: Int64?

  package init(
    factors: [RemoteFactor]? = nil, isDisabled: Bool? = nil, validSince: Int64? = nil
  ) {
    (self.factors, self.isDisabled, self.validSince) = (factors, isDisabled, validSince)
  }
}

/// Calls that change, each sent once; they throw ``RemoteFault``, whose ``RemoteFault/isRefusal``
/// says that nothing was changed.
extension ToolkitClient {
  /// Changes a part of the second factors of the project, or of a tenant; returns what they are then.
  ///
  /// Of `seen`, MANDATORY stays: it's never written where it isn't.
  package func change(
    _ change: RemotePolicyChange, over seen: RemoteMFA, of tenant: String?
  ) async throws(RemoteFault) -> RemoteMFA {
    let mfa = change.members(over: seen)
    let member = tenant == nil ? "mfa" : "mfaConfig"
    var call = RemoteCall(
      path: tenant.map { tenantPath($0) } ?? path("v2", nil, "config"),
      query: [("updateMask", mfa.map { "\(member).\($0.name)" }.joined(separator: ","))],
      body: [member: .object(JSON.Object(mfa.map { ($0.name, $0.value) }))],
      permission: tenant == nil ? "firebaseauth.configs.update" : Self.tenantsPermission)
    (call.isPatch, call.needs) = (true, .policy)
    let answer = try await send(call, for: .policyChange).body
    return RemoteMFA(answer[member])
  }

  /// Changes a user.
  package func change(
    _ change: RemoteUserChange, of user: String, in tenant: String?
  ) async throws(RemoteFault) {
    var body: JSON.Object = ["localId": .string(user)]
    var query: [(name: String, value: String)] = []
    if let factors = change.factors {
      let kept = try factors.map { factor throws(RemoteFault) in try factor.kept() }
      body.append("mfa", ["enrollments": .array(kept)])
      // Google always replaces the list.
      if project.kind == .countersign { query = [("updateMask", "mfa.enrollments")] }
    }
    if let isDisabled = change.isDisabled { body.append("disableUser", .bool(isDisabled)) }
    if let time = change.validSince { body.append("validSince", .string(String(time))) }
    var call = RemoteCall(
      path: path("v1", tenant, "accounts:update"), query: query, body: .object(body),
      permission: tenant == nil ? "firebaseauth.users.update" : Self.tenantsPermission)
    call.needs = .support
    _ = try await send(call, for: .userChange)
  }

  private static let tenantsPermission = "identitytoolkit.tenants.update"
}

extension RemotePolicyChange {
  /// The members of `mfa` that are written.
  fileprivate func members(over seen: RemoteMFA) -> [(name: String, value: JSON)] {
    func entry(_ state: RemoteMFA.State, _ intervals: Int?) -> (name: String, value: JSON) {
      let provider: JSON = intervals.map { ["adjacentIntervals": .number(JSON.Number($0))] } ?? [:]
      let entry: JSON = ["state": .string(state.rawValue), "totpProviderConfig": provider]
      return ("providerConfigs", [entry])
    }
    let isMandatory = seen.state == .mandatory
    func state(_ state: RemoteMFA.State) -> (name: String, value: JSON) {
      ("state", .string(state.rawValue))
    }
    switch self {
    case .totpOn(let intervals):
      let kept = seen.totp?.state == .mandatory ? RemoteMFA.State.mandatory : .enabled
      return (isMandatory ? [] : [state(.enabled)]) + [entry(kept, intervals)]
    case .totpOff:
      return (isMandatory || seen.hasSMS ? [] : [state(.disabled)]) + [
        entry(.disabled, seen.totp?.adjacentIntervals)
      ]
    case .sms(let isOn):
      let isOff = seen.state == nil || seen.state == .disabled
      return (isOn && isOff ? [state(.enabled)] : []) + [
        ("enabledProviders", isOn ? ["PHONE_SMS"] : [])
      ]
    }
  }
}

extension RemoteFactor {
  /// Returns the factor as the list of those that are kept has it, byte by byte as it was read.
  fileprivate func kept() throws(RemoteFault) -> JSON {
    var factor: JSON.Object = ["mfaEnrollmentId": .string(id)]
    if let displayName { factor.append("displayName", .string(displayName)) }
    switch kind {
    case .phone(let number): factor.append("phoneInfo", .string(number))
    case .totp: break
    // It would be lost.
    case .other: throw RemoteFault(.unknownFactor)
    }
    if let enrolledAt { factor.append("enrolledAt", .string(enrolledAt)) }
    if kind == .totp { factor.append("totpInfo", [:]) }
    return .object(factor)
  }
}
