import Crypto
import Database
import JSON

/// The policies of all pools of a project, as a sign-off refers to them.
///
/// ``json`` is canonical: the same policies always have the same bytes, and so the same digest.
struct PolicySet: Sendable {
  struct PoolPolicy: Sendable {
    let tenant: String
    let edit: PolicyEdit
    let version: Int
  }

  let project: ID<Project>
  /// The project's own pool, then its tenants by ID.
  let pools: [PoolPolicy]

  static func read(
    _ project: ID<Project>, _ connection: borrowing Connection
  ) throws -> PolicySet {
    let pools = try connection.all(
      """
      SELECT s.tenant_id, s.policy_version, \(PolicyEdit.columns("s")) FROM scope s
      WHERE s.project_id = \(project) AND s.deleted_at IS NULL ORDER BY s.tenant_id
      """
    ) { row in
      let (tenant, version): (String, Int) = (try row.next(), try row.next())
      return PoolPolicy(tenant: tenant, edit: try PolicyEdit(&row), version: version)
    }
    return PolicySet(project: project, pools: pools)
  }

  /// The canonical form: members and pools in a fixed order, null for what isn't set.
  var json: JSON {
    [
      "schema": "countersign-policy-set/1", "project": .string(project.text),
      "pools": .array(pools.map(\.json)),
    ]
  }

  /// The SHA-256 digest of the canonical form without white space.
  var digest: [UInt8] { HashFunction.sha256.digest(json.serialized()) }
}

extension PolicySet.PoolPolicy {
  var json: JSON {
    let (configuration, totp) = (edit.configuration, edit.configuration.totp)
    var object: JSON.Object = [
      "tenant": tenant.isEmpty ? nil : .string(tenant),
      "version": .number(JSON.Number(version)),
      "mfaState": configuration.state.map { .string($0.code) } ?? nil,
      "sms": .bool(configuration.smsEnabled),
      "totpState": totp.map { .string($0.state.code) } ?? nil,
      "adjacentIntervals": totp?.adjacentIntervals.map { .number(JSON.Number($0)) } ?? nil,
      "enrollmentPattern": edit.pattern.map { .string($0.rawValue) } ?? nil,
      "mandatoryFrom": edit.mandatoryFrom.map { .string($0.description) } ?? nil,
    ]
    // Left out without a value, so that the digests of earlier sign-offs stay the same.
    if let enforcement = edit.enforcement { object.append("enforcement", enforcement.json) }
    return .object(object)
  }
}
