import HTTP
import Identity
import Localization
import MailText

/// What needs attention in all projects that an administrator can access: worst first, then newest.
enum ProjectsAttention {
  /// The number of items that are shown at first.
  private static let most = 5

  static func list(
    _ facts: Facts, clock: ClockBanner?, _ signedIn: SignedIn
  ) -> AttentionList {
    AttentionList(
      facts.items(clock: clock, signedIn), without: facts.dismissed, most: most,
      isCut: facts.isCut, signedIn)
  }
}

extension ProjectsAttention {
  struct Facts: Sendable {
    let warnings: [PoolWarning]
    let alerts: [Alert]
    let reporting: [ReportingPool]
    let unreadable: [UnreadableSecrets.Group]
    /// The projects with tenants whose policies differ.
    let differing: [DifferingTenants]
    let overdue: [(signOff: SignOff, projectName: String)]
    let unreviewed: [(id: ID<Project>, name: String)]
    let drifting: [DriftingPool]
    /// The pools in the policy file that don't exist.
    let missing: [String]
    let policyFile: PolicyFileStatus
    let damage: IntegrityChecks.Result?
    let leftOutside: [PoolWithoutWayIn]
    let auditFault: AuditChain.StoredFault?
    let breakGlass: BreakGlassAlert?
    /// Since when no server does the tasks; nil if one does.
    let tasksUnheldSince: Instant?
    let upgrade: UpgradeReport?
    let held: [HeldAgent]
    /// The connections that are paused, or have been failing for an hour.
    let stopped: [ProjectConnection]
    /// The connected pools whose policies were changed at their servers in the last week.
    let changed: [MirroredPool]
    /// The changes of connected projects whose outcome isn't known.
    let unknown: [Intent]
    let dismissed: [AttentionMark: Instant]
    /// The maximum number of items of each kind, from which the worst are shown: as many as can be
    /// dismissed are read in addition.
    private let limit: Int

    /// The maximum number without those.
    private static let counted = 100

    /// Whether there may be more items of a kind.
    var isCut: Bool {
      let stopped = warnings.count { $0.reason.kind.severity == .critical }
      return [
        stopped, warnings.count - stopped, alerts.count, reporting.count, leftOutside.count,
        differing.count, overdue.count, unreviewed.count,
      ].contains { $0 >= limit }
    }

    /// Whether a policy that was weakened, which is an item itself, is why users aren't asked for codes.
    func isWeakening(_ warning: PoolWarning) -> Bool {
      guard case .enrolledWhileOff = warning.reason else { return false }
      return warnings.contains { other in
        guard case .weakened(let policy) = other.reason else { return false }
        return (other.project, other.tenant) == (warning.project, warning.tenant)
          && policy.weakenings.contains(.factorDisabled(.totp))
      }
    }

    /// Reads what an administrator can see; `page` has the projects on the page.
    init(
      _ identity: Identity, _ page: [ProjectSummary], _ administrator: Administrator
    ) async throws {
      dismissed = try await identity.dismissedAttention.all(of: administrator)
      limit = Self.counted + dismissed.count
      warnings = try await identity.pools.warnings(visibleTo: administrator, limit: limit)
      alerts = try await identity.alerts.ongoing(visibleTo: administrator, limit: limit)
      reporting = try await identity.reportedChanges.pools(
        visibleTo: administrator, limit: limit)
      unreadable = try await identity.unreadableSecrets.groups(visibleTo: administrator)
      let projects = try await identity.pools.projects(
        visibleTo: administrator, onlyDiffering: true, limit: limit)
      differing = try await identity.policies.differing(
        in: projects.items, visibleTo: administrator)
      overdue = try await identity.reviews.overdue(visibleTo: administrator, limit: limit)
      unreviewed = try await identity.reviews.neverSignedOff(
        visibleTo: administrator, limit: limit)
      drifting = try await identity.policies.drifting(in: page, visibleTo: administrator)
      missing = try await identity.policies.missingFilePools(in: page, visibleTo: administrator)
      policyFile = identity.policies.fileStatus
      damage = try await identity.integrityChecks.damage(visibleTo: administrator)
      func sees(_ kind: AttentionKind) -> Bool {
        kind.row.isSeen(by: administrator, in: .instance)
      }
      auditFault = sees(.auditFault) ? try await identity.auditChain.storedFault() : nil
      breakGlass = sees(.breakGlass) ? try await identity.alerts.breakGlass() : nil
      let latest = identity.clock.now().advanced(bySeconds: -TaskLease.longestGap)
      tasksUnheldSince =
        sees(.tasksNotHeld)
        ? try await identity.taskLease.unheldSince().flatMap { $0 < latest ? $0 : nil } : nil
      upgrade = try await identity.droppedByUpgrade(visibleTo: administrator)
      leftOutside = try await identity.pools.leftOutside(
        visibleTo: administrator, limit: limit)
      held = try await Self.held(identity, administrator)
      let known = try await identity.connections.known.isEmpty ? [] : identity.connections.list()
      (stopped, changed) = try await identity.connections.attention(
        to: known.filter { administrator.may(.readPolicy, project: $0.project, tenant: nil) })
      unknown = try await identity.connections.unknownChanges(
        of: known.filter { administrator.maySee($0.project) }
      ).filter { administrator.may(.readPolicy, in: $0.pool) }
    }

    /// The blocked agents whom this administrator can unblock.
    private static func held(
      _ identity: Identity, _ administrator: Administrator
    ) async throws -> [HeldAgent] {
      guard administrator.maySomewhere(.protectUsers) else { return [] }
      let all = try await identity.support.held()
      return all.filter {
        administrator.may(.protectUsers, in: $0.pool) && $0.agent != administrator.id
      }
    }
  }
}

extension ProjectsAttention.Facts {
  func items(clock: ClockBanner?, _ signedIn: SignedIn) -> AttentionItems {
    let (administrator, times) = (signedIn.administrator, signedIn.times)
    var items = AttentionItems(for: administrator)
    if let clock {
      items.add(.clock, in: .instance, clock.whole, found: clock.link) {
        $0.name = Message("The server’s clock may be wrong.")
      }
    }
    if let damage {
      items.add(.damage, at: damage.checkedAt, in: .instance, damage.sentence(times)) {
        $0.name = Message("The database is damaged")
      }
    }
    if let auditFault {
      items.add(
        .auditFault, at: auditFault.checkedAt, in: .instance,
        Message(
          "Found on {time}: entry {number} of the audit log isn’t as it was sealed.",
          ["time": times.value(auditFault.checkedAt), "number": .number(Int(auditFault.position))]),
        found: Link(text: Message("Open the audit log"), href: ConsolePaths.instanceAudit()))
    }
    if let tasksUnheldSince {
      items.add(
        .tasksNotHeld, at: tasksUnheldSince, in: .instance,
        Message(
          "No server has done the tasks since {time}: expired data isn’t deleted.",
          ["time": times.value(tasksUnheldSince)]))
    }
    if let breakGlass {
      items.add(
        .breakGlass, at: breakGlass.lastSeenAt, in: .instance, breakGlass.sentence(times),
        found: Link(text: Message("Open the audit log"), href: ConsolePaths.instanceAudit()))
    }
    if let upgrade {
      let query: Form = ["action": AuditAction.instanceUpgrade.rawValue]
      items.add(
        .droppedSettings, at: upgrade.at, in: .instance,
        Message(
          one: "The upgrade on {time} dropped {count} setting that this version doesn’t have.",
          other: "The upgrade on {time} dropped {count} settings that this version doesn’t have.",
          [
            "time": times.value(upgrade.at),
            "count": .number(upgrade.dropped.values.reduce(0, +)),
          ]),
        found: Link(
          text: Message("View audit log"), href: query.query(of: ConsolePaths.instanceAudit())))
    }
    for group in unreadable {
      items.add(
        .unreadable, in: AttentionPlace(group), group.sentence,
        found: Link(text: Message("View audit log"), href: group.history)
      ) {
        $0.name = $0.name ?? Message("This instance")
        $0.overview = $0.overview ?? group.history
      }
    }
    for each in reporting {
      items.add(
        .reported, in: .pool(each.pool),
        Message(
          one: "{count} user reported a change that they didn’t make.",
          other: "{count} users reported changes that they didn’t make.",
          ["count": .number(each.users)]),
        found: Link(text: Message("Review reports"), href: ConsolePaths.overview(each.pool)))
    }
    for each in leftOutside {
      items.add(.leftOutside, in: .pool(each.pool), each.found.finding)
    }
    for alert in alerts {
      items.add(
        AttentionKind(alert.kind), at: alert.startedAt, number: Int64(alert.count),
        in: .pool(alert.pool), alert.sentence(times),
        found: alert.evidence(for: administrator)
          ?? Link(text: Message("View overview"), href: ConsolePaths.overview(alert.pool)))
    }
    for agent in held {
      items.add(
        .heldAgent, at: agent.since, in: .pool(agent.pool),
        Message("Hit the hourly action limit on {since}.", ["since": times.value(agent.since)]),
        found: Link(
          text: Message("Unblock…"),
          href: UnblockAgent.path(agent.pool, agent.agent.text))
      ) {
        $0.name = .verbatim(agent.name)
        $0.project = agent.pool.name
        $0.overview =
          administrator.may(.readAudit, in: agent.pool)
          ? (["actor": "administrator:\(agent.agent.text)"] as Form).query(
            of: ConsolePaths.audit(agent.pool)) : nil
      }
    }
    if let warning = policyFile.warning ?? PolicyFileText.warning(missing: missing) {
      items.add(.policyFile, number: missing.digest, in: .instance, warning)
    }
    for warning in warnings where !isWeakening(warning) {
      items.add(
        warning.reason.kind, at: warning.reason.at, since: warning.changedAt,
        number: warning.reason.number, in: AttentionPlace(warning), warning.reason.sentence(times))
    }
    for pool in drifting {
      items.add(
        .fileDrift, since: pool.changedAt, number: pool.fields.map(\.rawValue).digest,
        in: AttentionPlace(pool), PolicyFileText.sentence(pool.fields))
    }
    for each in differing {
      items.add(
        .differing, number: Int64(each.count), in: .project(each.project, each.projectName),
        Message(
          one: "{count} tenant differs from the project’s policy.",
          other: "{count} tenants differ from the project’s policy.",
          ["count": .number(each.count)]))
    }
    items.add(stopped, changed, unknown)
    for (signOff, name) in overdue {
      items.add(
        .overdue, at: signOff.dueOn.start, in: .project(signOff.project, name),
        Message("The policy review was due on {due}.", ["due": Times.value(signOff.dueOn)]))
    }
    for (project, name) in unreviewed {
      items.add(
        .unreviewed, in: .project(project, name),
        Message("This project’s policies have never been signed off."))
    }
    return items
  }
}

extension AttentionItems {
  mutating func add(
    _ stopped: [ProjectConnection], _ changed: [MirroredPool], _ unknown: [Intent]
  ) {
    for each in unknown {
      // Others may not know who it is.
      let isNamed = each.account == nil || administrator.may(.findUsers, in: each.pool)
      let change = Message.Value.message(ChangeText.what(each.change))
      add(
        .changeUnknown, at: each.endedAt, number: each.id, in: .pool(each.pool),
        each.account == nil || !isNamed
          ? Message("It isn’t known whether a change was made: {change}.", ["change": change])
          : Message(
            "It isn’t known whether a change of {user} was made: {change}.",
            ["user": .name(Formatted.short(each.accountName)), "change": change]),
        found: isNamed
          ? Link(
            text: ChangeText.name(each.id), href: ChangeText.address(each.id, in: each.pool)) : nil)
    }
    for each in stopped {
      let page = ConsolePaths.connection(each.project.text)
      add(
        each.state == .paused ? .connectionPaused : .connectionFailing, at: each.causeAt,
        in: .project(each.project, each.projectName), each.causeText ?? Message("It’s paused."),
        found: Link(text: Message("View connection"), href: page))
    }
    for each in changed {
      add(
        .changedElsewhere, at: each.changedAt, in: .pool(each.pool),
        Message("The policy was changed at the server of the users."))
    }
  }
}

extension AttentionPlace {
  fileprivate init(_ group: UnreadableSecrets.Group) {
    self.init(
      project: group.project, tenant: group.tenant,
      name: group.tenant?.text ?? group.project?.text, projectName: group.project?.text)
  }

  fileprivate init(_ warning: PoolWarning) {
    self.init(
      project: warning.project, tenant: warning.tenant, name: warning.name,
      projectName: warning.projectName, kind: warning.kind)
  }

  fileprivate init(_ pool: DriftingPool) {
    self.init(
      project: pool.project, tenant: pool.tenant, name: pool.name, projectName: pool.projectName)
  }
}

extension ClockBanner {
  /// The sentence, with who confirms the time for those who can't.
  fileprivate var whole: Message {
    guard link == nil else { return sentence }
    return Message(
      "{sentence} Confirming the time requires the {roles} role.",
      ["sentence": .message(sentence), "roles": Permission.protectUsers.roleNames])
  }
}

extension IntegrityChecks.Result {
  fileprivate func sentence(_ times: Times) -> Message {
    Message(
      """
      Found by the integrity check on {time}: {faults}. Stop the server and restore the latest \
      backup that’s intact.
      """,
      ["time": times.value(checkedAt), "faults": .list(faults.map { .verbatim($0) })])
  }
}

extension BreakGlassAlert {
  fileprivate func sentence(_ times: Times) -> Message {
    Message(
      one: "The break-glass account signed in {count} time without the provider, last on {time}.",
      other: """
        The break-glass account signed in {count} times without the provider, last on {time}.
        """,
      ["count": .number(count), "time": times.value(lastSeenAt)])
  }
}

extension ProjectRow.Status {
  /// The status of each project that needs attention or has exempt users.
  static func all(
    _ attention: AttentionList, _ exemptions: [Exemption]
  ) -> [ID<Project>: Self] {
    var statuses = attention.counts.mapValues { Self(items: $0) }
    for exemption in exemptions where exemption.tenant == nil && !exemption.hasFactor {
      statuses[exemption.project, default: Self()].exempt += 1
    }
    return statuses
  }
}
