// What the addon has; `native/*.rs` says what each does.

declare namespace native {
  interface Asked {
    agentId: string;
    output: string;
    tool?: string | undefined;
    input?: string | undefined;
    latencyMs?: number | undefined;
    tmaxMs?: number | undefined;
    startedAt?: number | undefined;
  }

  interface Answer {
    word: "pass" | "fail" | "skip" | "late" | "broken";
    reason?: string | undefined;
    seconds: number;
  }

  interface Shipment {
    server: string;
    key: string;
    intervalS: number;
    batch: number;
    buffer: number;
    spool?: string | undefined;
    spoolFirst: boolean;
  }

  class Engine {
    constructor(settings: string, names: string[] | null, customs: string[]);
    static fromFile(path: string, place: string, customs: string[]): Engine;
    static check(asked: Asked): void;
    readonly names: string[];
    readonly budgetMs: number;
    readonly failFast: boolean;
    evaluate(asked: Asked): string;
    evaluateLater(asked: Asked): Promise<string>;
    start(asked: Asked): Evaluation;
    startLater(asked: Asked): Promise<Evaluation>;
  }

  class Evaluation {
    readonly names: string[];
    readonly leftMs: number;
    finish(answers: Answer[]): string;
  }

  class Telemetry {
    constructor(shipment: Shipment, tell: (message: string) => void);
    track(text: string): void;
    flush(timeoutS: number): Promise<boolean>;
    shutdown(timeoutS: number): Promise<boolean>;
    beginShutdown(): void;
    shutdownNow(timeoutS: number): void;
    readonly dropped: number;
    readonly waiting: number;
  }
}

export = native;
