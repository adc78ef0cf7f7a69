{{- define "jarvis.name" -}}
{{- default .Chart.Name .Values.nameOverride | trunc 40 | trimSuffix "-" -}}
{{- end -}}

{{- define "jarvis.fullname" -}}
{{- if .Values.fullnameOverride -}}
{{- .Values.fullnameOverride | trunc 40 | trimSuffix "-" -}}
{{- else if contains (include "jarvis.name" .) .Release.Name -}}
{{- .Release.Name | trunc 40 | trimSuffix "-" -}}
{{- else -}}
{{- printf "%s-%s" .Release.Name (include "jarvis.name" .) | trunc 40 | trimSuffix "-" -}}
{{- end -}}
{{- end -}}

{{/* Labels that select pods: (dict "root" $ "component" NAME). */}}
{{- define "jarvis.selector" -}}
app.kubernetes.io/name: {{ include "jarvis.name" .root }}
app.kubernetes.io/instance: {{ .root.Release.Name }}
{{- with .component }}
app.kubernetes.io/component: {{ . }}
{{- end }}
{{- end -}}

{{- define "jarvis.labels" -}}
{{ include "jarvis.selector" . }}
app.kubernetes.io/version: {{ .root.Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .root.Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .root.Chart.Name .root.Chart.Version | replace "+" "_" }}
{{- end -}}

{{- define "jarvis.image" -}}
{{- if .Values.image.digest -}}
{{ printf "%s@%s" .Values.image.repository .Values.image.digest | quote }}
{{- else -}}
{{ printf "%s:%s" .Values.image.repository (default .Chart.AppVersion .Values.image.tag) | quote }}
{{- end -}}
{{- end -}}

{{- define "jarvis.serviceAccountName" -}}
{{- if .Values.serviceAccount.create -}}
{{ default (include "jarvis.fullname" .) .Values.serviceAccount.name }}
{{- else -}}
{{ default "default" .Values.serviceAccount.name }}
{{- end -}}
{{- end -}}

{{- define "jarvis.storeSecret" -}}
{{- if .Values.postgres.enabled -}}
{{ include "jarvis.fullname" . }}-postgres
{{- else -}}
{{ required "store.existingSecret: name a secret with the address of the results store, or set postgres.enabled for a trial" .Values.store.existingSecret }}
{{- end -}}
{{- end -}}

{{- define "jarvis.storeKey" -}}
{{- if .Values.postgres.enabled }}url{{ else }}{{ .Values.store.key }}{{ end -}}
{{- end -}}

{{- define "jarvis.brokerSecret" -}}
{{- if .Values.redis.enabled -}}
{{ include "jarvis.fullname" . }}-redis
{{- else -}}
{{ required "broker.existingSecret: name a secret with the address of Redis, or set redis.enabled for a trial" .Values.broker.existingSecret }}
{{- end -}}
{{- end -}}

{{- define "jarvis.brokerKey" -}}
{{- if .Values.redis.enabled }}url{{ else }}{{ .Values.broker.key }}{{ end -}}
{{- end -}}

{{- define "jarvis.blobsClaim" -}}
{{- if .Values.blobs.claim.existing -}}
{{ .Values.blobs.claim.existing }}
{{- else if .Values.blobs.claim.create -}}
{{ include "jarvis.fullname" . }}-blobs
{{- end -}}
{{- end -}}

{{/* Fails unless the blob store is given in exactly one way. */}}
{{- define "jarvis.checkBlobs" -}}
{{- $ways := 0 -}}
{{- if .Values.blobs.url }}{{ $ways = add $ways 1 }}{{ end -}}
{{- if .Values.blobs.existingSecret }}{{ $ways = add $ways 1 }}{{ end -}}
{{- if include "jarvis.blobsClaim" . }}{{ $ways = add $ways 1 }}{{ end -}}
{{- if ne (int $ways) 1 -}}
{{- fail "blobs: set exactly one of blobs.url, blobs.existingSecret, and blobs.claim (create or existing)" -}}
{{- end -}}
{{- end -}}

{{- define "jarvis.podSecurityContext" -}}
runAsNonRoot: true
{{- with .Values.securityContext.runAsUser }}
runAsUser: {{ int64 . }}
{{- end }}
{{- with .Values.securityContext.runAsGroup }}
runAsGroup: {{ int64 . }}
{{- end }}
{{- with .Values.securityContext.fsGroup }}
fsGroup: {{ int64 . }}
fsGroupChangePolicy: OnRootMismatch
{{- end }}
seccompProfile: {type: RuntimeDefault}
{{- end -}}

{{- define "jarvis.securityContext" -}}
allowPrivilegeEscalation: false
readOnlyRootFilesystem: true
capabilities: {drop: [ALL]}
{{- end -}}

{{/* What all pods of Jarvis share. Service links would set variables that begin with the name of a service, such as
JARVIS_WEB_PORT, which are not settings. */}}
{{- define "jarvis.podSpec" -}}
serviceAccountName: {{ include "jarvis.serviceAccountName" . }}
automountServiceAccountToken: false
enableServiceLinks: false
{{- with .Values.imagePullSecrets }}
imagePullSecrets:
  {{- range . }}
  - name: {{ . }}
  {{- end }}
{{- end }}
securityContext:
  {{- include "jarvis.podSecurityContext" . | nindent 2 }}
{{- end -}}

{{/* Image, settings and security of a container. */}}
{{- define "jarvis.container" -}}
image: {{ include "jarvis.image" . }}
imagePullPolicy: {{ .Values.image.pullPolicy }}
workingDir: /etc/jarvis
securityContext:
  {{- include "jarvis.securityContext" . | nindent 2 }}
{{- end -}}

{{- define "jarvis.env" -}}
- name: JARVIS_DATA_DIR
  value: /var/lib/jarvis
- name: JARVIS_STORE_URL_FILE
  value: /run/secrets/jarvis/store/url
- name: JARVIS_BROKER_URL_FILE
  value: /run/secrets/jarvis/broker/url
{{- if include "jarvis.blobsClaim" . }}
- name: JARVIS_BLOBS_URL
  value: /var/lib/jarvis-blobs
{{- else if .Values.blobs.existingSecret }}
- name: JARVIS_BLOBS_URL_FILE
  value: /run/secrets/jarvis/blobs/url
{{- else }}
- name: JARVIS_BLOBS_URL
  value: {{ .Values.blobs.url | quote }}
{{- end }}
{{- if .Values.blobs.credentialsSecret }}
- name: AWS_SHARED_CREDENTIALS_FILE
  value: /run/secrets/jarvis/objects/credentials
- name: GOOGLE_APPLICATION_CREDENTIALS
  value: /run/secrets/jarvis/objects/credentials
{{- end }}
{{- range $name, $value := .Values.blobs.env }}
- name: {{ $name }}
  value: {{ $value | quote }}
{{- end }}
{{- with .Values.extraEnv }}
{{ toYaml . }}
{{- end }}
{{- end -}}

{{- define "jarvis.mounts" -}}
- {name: config, mountPath: /etc/jarvis, readOnly: true}
- {name: store, mountPath: /run/secrets/jarvis/store, readOnly: true}
- {name: broker, mountPath: /run/secrets/jarvis/broker, readOnly: true}
- {name: data, mountPath: /var/lib/jarvis}
- {name: tmp, mountPath: /tmp}
{{- if include "jarvis.blobsClaim" . }}
- {name: blobs, mountPath: /var/lib/jarvis-blobs}
{{- else if .Values.blobs.existingSecret }}
- {name: blobs, mountPath: /run/secrets/jarvis/blobs, readOnly: true}
{{- end }}
{{- if .Values.blobs.credentialsSecret }}
- {name: objects, mountPath: /run/secrets/jarvis/objects, readOnly: true}
{{- end }}
{{- end -}}

{{/* Volumes: (dict "root" $ "tmp" SIZE "data" SIZE). */}}
{{- define "jarvis.volumes" -}}
{{- $root := .root -}}
- name: config
  configMap: {name: {{ include "jarvis.fullname" $root }}}
- name: store
  secret:
    secretName: {{ include "jarvis.storeSecret" $root }}
    items: [{key: {{ include "jarvis.storeKey" $root }}, path: url}]
- name: broker
  secret:
    secretName: {{ include "jarvis.brokerSecret" $root }}
    items: [{key: {{ include "jarvis.brokerKey" $root }}, path: url}]
- name: data
  emptyDir: {sizeLimit: {{ .data }}}
- name: tmp
  emptyDir: {sizeLimit: {{ .tmp }}}
{{- if include "jarvis.blobsClaim" $root }}
- name: blobs
  persistentVolumeClaim: {claimName: {{ include "jarvis.blobsClaim" $root }}}
{{- else if $root.Values.blobs.existingSecret }}
- name: blobs
  secret:
    secretName: {{ $root.Values.blobs.existingSecret }}
    items: [{key: {{ $root.Values.blobs.key }}, path: url}]
{{- end }}
{{- with $root.Values.blobs.credentialsSecret }}
- name: objects
  secret:
    secretName: {{ . }}
    items: [{key: {{ $root.Values.blobs.credentialsKey }}, path: credentials}]
{{- end }}
{{- end -}}

{{/* Annotations that restart pods when jarvis.yaml changes. */}}
{{- define "jarvis.checksum" -}}
checksum/config: {{ toJson .Values.config | sha256sum }}
{{- end -}}

{{/* A group with its defaults, as JSON: (dict "root" $ "group" GROUP). */}}
{{- define "jarvis.group" -}}
{{- mustMergeOverwrite (deepCopy .root.Values.workerDefaults) (deepCopy .group) | toJson -}}
{{- end -}}

{{/* The number of waiting and running jobs of queues. */}}
{{- define "jarvis.backlog" -}}
{{- $names := list -}}
{{- range .queues }}{{ $names = append $names (squote .) }}{{ end -}}
{{- .root.Files.Get "files/backlog.sql" | replace "@QUEUES@" (join ", " $names) | trim -}}
{{- end -}}
