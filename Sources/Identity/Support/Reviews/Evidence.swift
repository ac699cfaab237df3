public import Crypto
import Database
import JSON
import OTP
import Text

/// The policies of a project as an evidence file shows them.
public struct ReviewEvidence: Sendable {
  public struct ReviewedPool: Sendable {
    public let summary: PolicySummary
    /// The number of its users who are exempt from MFA.
    public let exemptions: Int
  }

  public let pool: Pool
  public let at: Instant
  public let origin: String
  /// The name of the administrator who asked for it.
  public let reader: String
  /// The project's own pool, then its tenants by ID.
  public let pools: [ReviewedPool]
  /// The current exemptions, first to end first.
  public let exemptions: [Exemption]
  /// All sign-offs, newest first.
  public let signOffs: [SignOff]
  public let status: ReviewStatus
  /// What has changed since the last sign-off; nil if nothing has, or there's none.
  public let changes: PolicySetChanges?
  /// What has changed since a page that showed the policies; nil if nothing has, or there's none.
  public let changesSincePage: PolicySetChanges?
  /// The digest of the policies in hexadecimal digits.
  public let digest: String
  let set: PolicySet

  /// The policies, as a form that shows this evidence names them.
  public var seen: SeenPolicies { SeenPolicies(digest: digest, at: at) }
}

extension Reviews {
  /// Gathers the policies, enrollment figures, exemptions, and sign-offs of a project from one
  /// snapshot.
  public func evidence(
    of project: ID<Project>, for administrator: Administrator, since page: SeenPolicies? = nil
  ) async throws -> ReviewEvidence {
    try await store.read { now, connection in
      let stamp = try Self.stamp(of: project, connection)
      let exemptions = try Exemptions.list(in: project, at: now, connection)
      let counts: [ID<Tenant>?: Int] = exemptions.reduce(into: [:]) {
        $0[$1.tenant, default: 0] += 1
      }
      let pools = try connection.all(
        """
        SELECT \(PolicySummary.columns), s.policy_version FROM scope s
        WHERE s.project_id = \(project) AND s.deleted_at IS NULL ORDER BY s.tenant_id
        """
      ) { row in
        (summary: try PolicySummary(&row), version: try row.next() as Int)
      }
      let set = PolicySet(
        project: project,
        pools: pools.map {
          PolicySet.PoolPolicy(
            tenant: $0.summary.tenant?.text ?? "", edit: $0.summary.edit, version: $0.version)
        })
      let digest = Hex.encode(digest(of: set, stamp))
      let status = try status(of: project, stamp: stamp, at: now, connection)
      return ReviewEvidence(
        pool: try Pools.find(project: project, tenant: nil, connection), at: now,
        origin: store.links.origin, reader: administrator.displayName,
        pools: pools.map {
          ReviewEvidence.ReviewedPool(
            summary: $0.summary, exemptions: counts[$0.summary.tenant] ?? 0)
        },
        exemptions: exemptions,
        signOffs: try Self.signOffs(of: project, connection),
        status: status, changes: try changes(since: status, connection),
        changesSincePage: try page.flatMap { page in
          page.digest == digest ? nil : try changes(of: project, since: page, connection)
        },
        digest: digest, set: set)
    }
  }

  /// Returns evidence as a signed JSON document.
  public func file(_ evidence: ReviewEvidence) async throws -> [UInt8] {
    let json = evidence.json
    let signer = try await keys.signer()
    return EvidenceFile.document(
      json, key: signer.key.publicKey, signature: try signer.sign(EvidenceFile.message(json)))
  }
}

public enum EvidenceFile {
  public enum Verification: Sendable, Equatable {
    /// The file is as signed: its project, and when it was gathered.
    case valid(project: String, at: String)
    case altered
    /// The file was signed with a key that isn't among those given, which has this fingerprint.
    case wrongKey(String)
    case notEvidence
  }

  /// What's signed before the evidence, so that the signature can't be one of anything else.
  private static let prefix = Array("countersign evidence\n".utf8)
  private static let algorithm = "Ed25519"

  /// Verifies a file without a server.
  ///
  /// White space between the parts of the document doesn't matter; everything else does.
  public static func verify(_ bytes: [UInt8], with keys: [Ed25519PublicKey]) -> Verification {
    guard let document = try? JSON.parse(bytes), let evidence = document["evidence"],
      document.objectValue?.count == 2, document["signature"]?.objectValue?.count == 3,
      document["signature"]?["algorithm"]?.textValue?.text == algorithm,
      let signer = document["signature"]?["key"]?.textValue?.text, isFingerprint(signer),
      let value = document["signature"]?["value"]?.textValue?.text,
      let signature = Base64URL.decode(value),
      let project = evidence["project"]?["id"]?.textValue?.text,
      let moment = evidence["gatheredAt"]?.textValue?.text
    else { return .notEvidence }
    guard let key = keys.first(where: { $0.fingerprint == signer }) else {
      return .wrongKey(signer)
    }
    guard key.verify(signature, of: message(evidence)) else { return .altered }
    return .valid(project: project, at: moment)
  }

  /// Whether text from a file has the form of a fingerprint, so that a report may show it.
  private static func isFingerprint(_ text: String) -> Bool {
    guard let digest = Hex.decode(Array(text.utf8)), digest.count == 32 else { return false }
    return Hex.encode(digest) == text
  }

  static func message(_ evidence: JSON) -> [UInt8] { prefix + evidence.serialized() }

  static func document(
    _ evidence: JSON, key: Ed25519PublicKey, signature: [UInt8]
  ) -> [UInt8] {
    let document: JSON = [
      "evidence": evidence,
      "signature": [
        "algorithm": .string(algorithm), "key": .string(key.fingerprint),
        "value": .string(Base64URL.encodeStandard(signature)),
      ],
    ]
    return document.serialized() + [UInt8(ascii: "\n")]
  }
}

extension ReviewEvidence {
  fileprivate var json: JSON {
    [
      "schema": "countersign-evidence/1", "server": .string(origin),
      "gatheredAt": .string(at.rfc3339Milliseconds), "gatheredBy": .string(reader),
      "project": ["id": .string(pool.project.text), "name": .string(pool.projectName)],
      "policySet": set.json, "policySetDigest": .string(digest),
      "pools": .array(pools.map(\.json)), "exemptions": .array(exemptions.map(\.json)),
      "signOffs": .array(signOffs.map { $0.json(current: digest) }),
      "changesSinceSignOff": changes?.json ?? nil,
    ]
  }
}

extension ReviewEvidence.ReviewedPool {
  fileprivate var json: JSON {
    let inForce = summary.inForce
    let totp = !inForce.isTOTPOn ? "off" : inForce.isTOTPMandatory ? "mandatory" : "on"
    var intervals: JSON = inForce.window.map { .number(JSON.Number($0.adjacentIntervals)) } ?? nil
    var codes: JSON = .number(JSON.Number(inForce.window?.codes ?? 0))
    if inForce.isWindowUnsaid { (intervals, codes) = (AdjacentIntervals.unsaid.json, .null) }
    return [
      "tenant": .optional(summary.tenant?.text), "name": .string(summary.displayName),
      "inForce": [
        "totp": .string(totp),
        "adjacentIntervals": intervals, "acceptedCodes": codes,
        "sms": .bool(inForce.isSMSOn), "enrollmentPattern": .optional(inForce.pattern?.rawValue),
        "mandatoryFrom": .optional(inForce.mandatoryFrom?.description),
        "enforcement": inForce.enforcement?.json ?? nil,
      ],
      "users": .number(JSON.Number(summary.users)),
      "enrolledUsers": .number(JSON.Number(summary.enrolledUsers)),
      "exemptUsers": .number(JSON.Number(exemptions)),
      "lastChange": summary.changedAt.map { at in
        [
          "at": .string(at.rfc3339Milliseconds), "by": .optional(summary.changedBy),
          "reason": .optional(summary.changeReason),
        ]
      } ?? nil,
    ]
  }
}

extension PolicySetChanges {
  fileprivate var json: JSON {
    ["isComplete": .bool(isComplete), "pools": .array(pools.map(\.json))]
  }
}

extension PolicySetChanges.PoolChange {
  fileprivate var json: JSON {
    let change =
      switch kind {
      case .created: "created"
      case .deleted: "deleted"
      case .changed: "changed"
      }
    return [
      "tenant": .optional(tenant?.text), "name": .string(name), "change": .string(change),
      "before": before, "after": after,
    ]
  }
}

extension Exemption {
  fileprivate var json: JSON {
    [
      "tenant": .optional(tenant?.text), "uid": .string(account.text), "user": .string(label),
      "isEnrolled": .bool(isEnrolled), "reason": .string(reason.rawValue), "note": .string(note),
      "ticket": .string(ticket), "grantedAt": .string(grantedAt.rfc3339Milliseconds),
      "grantedBy": .string(grantorName), "endsAt": .string(endsAt.rfc3339Milliseconds),
    ]
  }
}

extension SignOff {
  fileprivate func json(current: String) -> JSON {
    [
      "signedAt": .string(signedAt.rfc3339Milliseconds), "reviewer": .string(reviewerName),
      "note": .string(note), "nextReviewDue": .string(dueOn.description),
      "pools": .number(JSON.Number(pools)), "policySetDigest": .string(digest),
      "isOfCurrentPolicies": .bool(digest == current),
    ]
  }
}

extension JSON {
  fileprivate static func optional(_ text: String?) -> JSON { text.map(JSON.string) ?? .null }
}
