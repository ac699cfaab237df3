import Foundation
import Identity

/// What demos are made of, as `demo.json` lists it.
package struct DemoData: Decodable, Sendable {
  /// Names of people in one script.
  package struct Script: Decodable, Sendable {
    /// Names as written and, after “=”, as spelled in email addresses, if not in lowercase.
    let given: [String]
    let family: [String]
    /// The separator between the two names.
    let joint: String
    let familyFirst: Bool
    package let devices: [String]

    /// Returns a name, and the beginning of an email address, of names that `one` draws.
    package func person(_ one: ([String]) -> String) -> (name: String, stem: String) {
      let names = [one(given), one(family)].map { $0.split(separator: "=").map(String.init) }
      let written = names.map { $0[0] }
      return (
        (familyFirst ? written.reversed() : written).joined(separator: joint),
        names.map { $0.count == 2 ? $0[1] : $0[0].lowercased() }.joined(separator: ".")
      )
    }
  }

  struct Reason: Decodable, Sendable {
    let reason: String
    let note: String
  }

  package let scripts: [String: Script]
  /// The percentages of scripts, by what a pool writes in.
  let writings: [String: [String: Int]]
  package let domains: [String]
  /// The user agents of users.
  package let programs: [String]
  /// The lines of a key whose private key was discarded.
  let publicKey: [String]
  let reasons: [Reason]
  /// The lines of the first version of a support playbook, and those added in the second.
  let playbook: [String]
  let addition: [String]
  let projects: [DemoProject]

  package init() throws {
    self = try JSONDecoder().decode(Self.self, from: Data(PackageResources.demo_json))
  }
}

/// A demo project in its final state.
struct DemoProject: Decodable, Sendable {
  let id: String
  let name: String
  /// The pool of the project's own users, and its tenants.
  let pools: [DemoPlan]
}

/// A demo pool in its final state.
struct DemoPlan: Decodable, Sendable {
  let name: String
  let users: Int
  let enrolled: Int
  /// The states of MFA and of TOTP, as the API numbers them; nil for TOTP if it was never configured.
  let state: Int?
  let totp: Int?
  let intervals: Int?
  let pattern: String?
  let writing: String
  /// The number of days until the pattern “mandatory” applies; nil for immediately.
  let mandatoryIn: Int64?
  let sms: Bool?

  /// Returns the policy at the end of the history.
  func policy(at now: Instant) -> PolicyEdit {
    var edit = policy
    edit.mandatoryFrom = mandatoryIn.map { Day(now.advanced(bySeconds: $0 * 86_400)) }
    return edit
  }

  private var policy: PolicyEdit {
    var configuration = MFAConfiguration.initial
    if let totp = totp.flatMap(MFAState.init(rawValue:)) {
      configuration = MFAConfiguration(
        state: state.flatMap(MFAState.init(rawValue:)),
        totp: TOTPConfiguration(state: totp, adjacentIntervals: intervals))
    }
    configuration.setSMS(sms ?? false)
    return PolicyEdit(
      configuration: configuration, pattern: pattern.flatMap(EnrollmentPattern.init(rawValue:)))
  }

  /// The policy before the month, which differs from the final one if TOTP is configured.
  var earlier: PolicyEdit {
    var edit = policy
    guard let totp = edit.configuration.totp else { return edit }
    if totp.state == .disabled {
      edit.configuration.totp?.state = .enabled
    } else {
      edit.configuration.totp?.adjacentIntervals = intervals == nil ? 8 : nil
    }
    edit.pattern = pattern == nil ? nil : .account
    return edit
  }
}

struct DemoPool: Sendable {
  let plan: DemoPlan
  let pool: Pool
  let madeAt: Instant
}
